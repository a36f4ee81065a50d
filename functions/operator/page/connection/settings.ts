// Reads the settings of the page before the sign-in: the clients' URL, and the identity provider.
import { useEffect, useState } from 'preact/hooks';

export interface PageSignIn {
  readonly issuer: string;
  readonly client_id: string;
  /** Null if the gateway does not reach the identity provider. Then the other two fields are null too. */
  readonly authorization_endpoint: string | null;
  readonly token_endpoint: string | null;
  readonly scope: string | null;
}

interface Settings {
  readonly gateway_url: string | null;
  readonly sign_in: PageSignIn | null;
}

const withoutServer: Settings = { gateway_url: null, sign_in: null };

export const readSettings = (): Promise<Settings> =>
  fetch('/console/settings.json').then(
    (response) => (response.ok ? (response.json() as Promise<Settings>) : withoutServer),
    () => withoutServer,
  );

/** Returns the settings; undefined until they are read. */
export function useSettings(): Settings | undefined {
  const [settings, set] = useState<Settings>();
  useEffect(() => void readSettings().then(set), []);
  return settings;
}

/** Returns the URL for clients. The URL is the page's own URL unless the settings name another URL. */
export const useBaseUrl = (): string => new URL('/v1', useSettings()?.gateway_url ?? location.origin).href;
