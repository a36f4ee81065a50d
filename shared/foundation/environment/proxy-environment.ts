// Reads the outgoing proxy of a process, from the variables that most programs read. Names in lower case take
// precedence, as in those programs.
import type { Variables } from './aws-environment.ts';

export interface ProxyEnvironment {
  /** Proxies for calls to `https:` and to `http:`; undefined means a direct call. */
  readonly https: URL | undefined;
  readonly http: URL | undefined;
  /** Hosts that are called directly, as the variable lists them, separated by commas. */
  readonly except: string;
}

/** Throws with the name of the malformed variable alone, because its value may contain a password. */
export function readProxyEnvironment(variables: Variables = process.env): ProxyEnvironment {
  const proxyVariable = (name: string) => variables[name.toLowerCase()] || variables[name] || undefined;
  const readProxy = (name: string) => {
    const text = proxyVariable(name)?.trim();
    if (text === undefined) return undefined;
    // Many people write only the host and the port.
    const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
    if (url !== null && /^https?:$/.test(url.protocol)) return url;
    throw new Error(`${name} must be the http or https URL of a proxy, or not be set`);
  };
  return { https: readProxy('HTTPS_PROXY'), http: readProxy('HTTP_PROXY'), except: proxyVariable('NO_PROXY') ?? '' };
}
