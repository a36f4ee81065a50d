import type { ComponentChildren } from 'preact';
import { addressOf, goTo, type Parameters, type ViewName } from '../connection/address.ts';

interface LinkProperties {
  readonly view: ViewName;
  readonly parameters?: Parameters;
  readonly isCurrent?: boolean;
  readonly text: ComponentChildren;
}

/** Shows a link to another view of this page. With a modifier key the browser opens it like any other link. */
export const Link = ({ view, parameters, isCurrent = false, text }: LinkProperties) => (
  <a
    href={addressOf(view, parameters)}
    {...(isCurrent ? { 'aria-current': 'page' as const } : {})}
    onClick={(event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      goTo(view, parameters);
    }}
  >
    {text}
  </a>
);
