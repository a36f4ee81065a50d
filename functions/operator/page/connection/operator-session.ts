// Stores the credential of this tab: an operator key, or the identity token of a person. The credential lasts as long
// as the tab, and is never in the address.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

const keyName = 'gw-operator-key';
const tokenName = 'gw-identity-token';
const fragmentSign = /^#key=(.+)$/;
const timeoutMaxMs = 2 ** 31 - 1;
const listeners = new Set<() => void>();

interface IdentitySession {
  readonly token: string;
  readonly endsAtMs: number;
}

const endedText = 'Your sign-in has ended.';

/** The reason why the last session ended, unless the person ended it. */
export let refusal: string | undefined;

const tellAll = () => {
  for (const tell of listeners) tell();
};

function readIdentity(): IdentitySession | undefined {
  const storedText = sessionStorage.getItem(tokenName);
  return storedText === null ? undefined : (JSON.parse(storedText) as IdentitySession);
}

/** The text after `Bearer`. */
export const credential = (): string | null => readIdentity()?.token ?? sessionStorage.getItem(keyName);

export function signInWithKey(key: string): void {
  forget();
  sessionStorage.setItem(keyName, key);
  tellAll();
}

export function signInWithToken(session: IdentitySession): void {
  forget();
  sessionStorage.setItem(tokenName, JSON.stringify(session));
  tellAll();
}

function forget(reason?: string): void {
  refusal = reason;
  sessionStorage.removeItem(keyName);
  sessionStorage.removeItem(tokenName);
}

export function signOut(reason?: string): void {
  forget(reason);
  tellAll();
}

/** Takes a key from the address's fragment, and removes it from the browser's history. */
export function takeKeyFromFragment(): void {
  const [, key] = fragmentSign.exec(location.hash) ?? [];
  if (key === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  signInWithKey(decodeURIComponent(key));
}

/**
 * Returns the current credential; null if the tab is not signed in. If a sign-in ends while the page is open, the page
 * shows that.
 */
export function useCredential(): string | null {
  const [current, set] = useState(credential);
  // The effect runs before painting, so that a key is stored even if the person enters it at once.
  useLayoutEffect(() => {
    const look = () => set(credential());
    // A person may open a printed address in a tab that already shows the console.
    const take = () => takeKeyFromFragment();
    listeners.add(look);
    window.addEventListener('hashchange', take);
    return () => {
      listeners.delete(look);
      window.removeEventListener('hashchange', take);
    };
  }, []);
  useEffect(() => {
    const session = readIdentity();
    if (session === undefined) return;
    const leftMs = Math.min(Math.max(session.endsAtMs - Date.now(), 0), timeoutMaxMs);
    const timer = setTimeout(() => signOut(endedText), leftMs);
    return () => clearTimeout(timer);
  }, [current]);
  return current;
}
