// The operator's key of this tab. It is kept as long as the tab, and never stands in the address.
import { useEffect, useState } from 'preact/hooks';

const storageName = 'gw-operator-key';
const fragmentSign = /^#key=(.+)$/;
const listeners = new Set<() => void>();

export const operatorKey = (): string | null => sessionStorage.getItem(storageName);

/** Why the last session ended, where the gateway ended it. */
export let refusal: string | undefined;

export function signIn(key: string): void {
  refusal = undefined;
  sessionStorage.setItem(storageName, key);
  for (const tell of listeners) tell();
}

export function signOut(reason?: string): void {
  refusal = reason;
  sessionStorage.removeItem(storageName);
  for (const tell of listeners) tell();
}

/** Also out of the history of the browser, where the address with the key would stay. */
export function takeKeyFromFragment(): void {
  const [, key] = fragmentSign.exec(location.hash) ?? [];
  if (key === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  signIn(decodeURIComponent(key));
}

export function useIsSignedIn(): boolean {
  const [isSignedIn, set] = useState(operatorKey() !== null);
  useEffect(() => {
    const look = () => set(operatorKey() !== null);
    // A printed address that is opened in a tab which shows the console already.
    const take = () => takeKeyFromFragment();
    listeners.add(look);
    window.addEventListener('hashchange', take);
    return () => {
      listeners.delete(look);
      window.removeEventListener('hashchange', take);
    };
  }, []);
  return isSignedIn;
}
