// Reads and writes the address of the page, which contains the view, its time and its filters:
// `?view=calls&since=7d&model=demo%2Fchat`. A view can therefore be sent to a colleague, and the browser's back button
// works.
import { useLayoutEffect, useState } from 'preact/hooks';

const viewNames = [
  'overview',
  'calls',
  'call',
  'workspaces',
  'keys',
  'operators',
  'models',
  'functions',
  'function',
  'configuration',
  'playground',
] as const;
export type ViewName = (typeof viewNames)[number];

export interface ViewAddress {
  readonly view: ViewName;
  readonly parameters: URLSearchParams;
}

export type Parameters = Readonly<Record<string, string | undefined>>;

const listeners = new Set<() => void>();
const isView = (name: string | null): name is ViewName => viewNames.some((known) => known === name);

function readAddress(): ViewAddress {
  const parameters = new URLSearchParams(location.search);
  const name = parameters.get('view');
  return { view: isView(name) ? name : 'overview', parameters };
}

/** Returns the address without empty parameters. */
export function addressOf(view: ViewName, parameters: Parameters = {}): string {
  const entries = Object.entries(parameters).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return `?${new URLSearchParams({ ...Object.fromEntries(entries), view })}`;
}

/** Opens a view. `replaces` means that the browser's back button does not lead to the address before. */
export function goTo(view: ViewName, parameters?: Parameters, { replaces = false } = {}): void {
  history[replaces ? 'replaceState' : 'pushState'](null, '', addressOf(view, parameters));
  for (const tell of listeners) tell();
}

export function useAddress(): ViewAddress {
  const [address, setAddress] = useState(readAddress);
  // The address is read before painting, so that a link works as soon as it is visible.
  useLayoutEffect(() => {
    const look = () => setAddress(readAddress());
    listeners.add(look);
    window.addEventListener('popstate', look);
    return () => {
      listeners.delete(look);
      window.removeEventListener('popstate', look);
    };
  }, []);
  return address;
}

export const sinceChoices = { '1h': 'last hour', '24h': 'last 24 hours', '7d': 'last 7 days', '30d': 'last 30 days' };
const sinceDefault = '24h';

export const sinceOf = ({ parameters }: ViewAddress): string => parameters.get('since') ?? sinceDefault;
