import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

export const loopback = '127.0.0.1';

/** Returns a port that is free now. Another process may take the port before the caller does. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, loopback);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
