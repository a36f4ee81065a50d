// The proxy through which a process has to call others, as most programs are told of it. Names in lower case win, as everywhere else.
import type { Variables } from './aws-environment.ts';

export interface ProxyEnvironment {
  /** For calls to `https:` and to `http:`. Undefined: they go out directly. */
  readonly https: URL | undefined;
  readonly http: URL | undefined;
  /** Hosts that are called directly, as they are written: separated by commas. */
  readonly except: string;
}

/** Throws with the name of the variable that is malformed: its value may hold a password. */
export function readProxyEnvironment(variables: Variables = process.env): ProxyEnvironment {
  const named = (name: string) => variables[name.toLowerCase()] || variables[name] || undefined;
  const readProxy = (name: string) => {
    const text = named(name)?.trim();
    if (text === undefined) return undefined;
    // Many write the host and the port alone.
    const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
    if (url !== null && /^https?:$/.test(url.protocol)) return url;
    throw new Error(`${name} must be the http or https URL of a proxy, or not be set`);
  };
  return { https: readProxy('HTTPS_PROXY'), http: readProxy('HTTP_PROXY'), except: named('NO_PROXY') ?? '' };
}
