// A server that speaks just enough of DynamoDB's protocol to misbehave on purpose, and counts what it was asked.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** 'lost': the request is read in full and its answer never leaves. 'silent': the connection stays open. */
export type Behaviour = 'lost' | 'silent' | { readonly status: number; readonly body: Record<string, unknown> };

export const dynamoError = (status: number, name: string): Behaviour => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name },
});
export const answer = (body: Record<string, unknown>): Behaviour => ({ status: 200, body });

export interface FakeDynamo {
  readonly endpoint: string;
  /** The operations asked for so far, such as "GetItem". */
  readonly operations: string[];
  /** Resolves when the first request has arrived. */
  readonly firstRequest: Promise<void>;
  stop(): Promise<void>;
}

/** Behaves as listed, request by request; the last behaviour stays. */
export async function startFakeDynamo(behaviours: readonly [Behaviour, ...Behaviour[]]): Promise<FakeDynamo> {
  const operations: string[] = [];
  const arrived = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    for await (const _chunk of request);
    const behaviour = behaviours[Math.min(operations.length, behaviours.length - 1)] ?? behaviours[0];
    operations.push(String(request.headers['x-amz-target']).split('.')[1] ?? '');
    arrived.resolve();
    if (behaviour === 'silent') return;
    if (behaviour === 'lost') return void request.socket.destroy();
    response.writeHead(behaviour.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(behaviour.body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operations,
    firstRequest: arrived.promise,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
