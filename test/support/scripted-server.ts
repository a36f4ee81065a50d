// A server in place of one of AWS's own that answers as a script says, and records the requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFaultScript } from './fault-script.ts';

/**
 * 'lost': the request is read completely and its answer is never sent. 'cut': its answer breaks off in the middle.
 * 'silent': the connection stays open.
 */
export type ScriptedBehaviour =
  | 'lost'
  | 'cut'
  | 'silent'
  | {
      readonly status: number;
      /** Body of the answer; an object is sent as JSON. */
      readonly body: Record<string, unknown> | string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export const awsError = (status: number, name: string): ScriptedBehaviour => ({
  status,
  body: { __type: `com.amazonaws.any#${name}`, message: `${name}: its text` },
});
const isFault = (behaviour: ScriptedBehaviour): boolean => typeof behaviour === 'string' || behaviour.status >= 400;

export const answer = (body: Record<string, unknown> | string): ScriptedBehaviour => ({ status: 200, body });

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ScriptedServer {
  readonly endpoint: string;
  readonly requests: readonly ReceivedRequest[];
  /** Returns the operations of the JSON services until now, such as "GetItem". */
  operations(): string[];
  /** Returns the number of connections that were opened until now. */
  connections(): number;
  /** Resolves when the first request has arrived. */
  readonly firstRequest: Promise<void>;
  /** Closes every connection that is open now. */
  hangUp(): void;
  /** Rejects if a listed fault was never sent. */
  stop(): Promise<void>;
}

/** Starts a server that behaves as listed, request by request; the last behaviour is repeated. */
export async function startScriptedServer(
  behaviours: readonly [ScriptedBehaviour, ...ScriptedBehaviour[]],
): Promise<ScriptedServer> {
  const script = createFaultScript('a scripted server');
  const faultAt = (at: number) => `${JSON.stringify(behaviours[at])} to request ${at + 1}`;
  for (const [at, behaviour] of behaviours.entries()) if (isFault(behaviour)) script.script(faultAt(at));
  const requests: ReceivedRequest[] = [];
  const arrived = Promise.withResolvers<void>();
  let connections = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const behaviour = behaviours[Math.min(requests.length, behaviours.length - 1)] ?? behaviours[0];
    const { method = '', url: path = '', headers } = request;
    script.markSent(faultAt(requests.length));
    requests.push({ method, path, headers, body });
    arrived.resolve();
    if (behaviour === 'silent') return;
    if (behaviour === 'lost') return void request.socket.destroy();
    if (behaviour === 'cut') return void request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"half');
    const text = typeof behaviour.body === 'string' ? behaviour.body : JSON.stringify(behaviour.body);
    response.writeHead(behaviour.status, { 'content-type': 'application/x-amz-json-1.0', ...behaviour.headers });
    response.end(text);
  }).listen(0, '127.0.0.1');
  server.on('connection', () => {
    connections += 1;
  });
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    operations: () => requests.map(({ headers }) => String(headers['x-amz-target']).split('.')[1] ?? ''),
    connections: () => connections,
    firstRequest: arrived.promise,
    hangUp: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      script.check();
    },
  };
}
