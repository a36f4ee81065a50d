// A bucket for large results: as much of S3 as the bundles call, by path.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Bucket {
  readonly endpoint: string;
  readonly name: string;
  /** `PUT` and `GET`, in the order in which they came. */
  readonly methods: readonly string[];
  stop(): void;
}

export async function startBucket(): Promise<Bucket> {
  const objects = new Map<string, Buffer>();
  const methods: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request;
    const [path = ''] = url.split('?');
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    methods.push(method);
    if (method === 'PUT') objects.set(path, Buffer.concat(parts));
    const object = objects.get(path);
    response.statusCode = object === undefined ? 404 : 200;
    response.end(method === 'PUT' ? '' : (object ?? '<Error><Code>NoSuchKey</Code></Error>'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    name: 'gw-runtime-test-spill',
    methods,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
