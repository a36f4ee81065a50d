// Checks whether the address of the local server is free, and builds the URL by which this machine calls it.
import { createServer } from 'node:net';

export const hostDefault = '127.0.0.1';

/** Throws an Error with one line for the terminal if the server cannot listen on the address. */
export function checkAddress(port: number, host: string, option?: string): Promise<void> {
  const listen = async () => {
    const probe = createServer();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    probe.once('error', reject).listen(port, host, resolve);
    await promise;
    await new Promise((closed) => probe.close(closed));
  };
  return orOneLine(port, host, listen, option);
}

/** Returns the result of `listen`; throws an Error with one line for the terminal. */
export async function orOneLine<Value>(
  port: number,
  host: string,
  listen: () => Promise<Value>,
  option = '--port',
): Promise<Value> {
  try {
    return await listen();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new Error(`port ${port} is in use; choose another with ${option}`);
    throw new Error(`cannot listen on ${host}, port ${port} (${code ?? 'unknown failure'})`);
  }
}

export const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** Returns the URL by which this machine reaches it. */
export function baseUrl(host: string, port: number, scheme: 'http' | 'https' = 'http'): string {
  const address = isWildcard(host) ? hostDefault : host;
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}/v1`;
}
