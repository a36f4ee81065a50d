// The server that Lambda puts beside every function: it hands out events one by one and takes the answers, here byte
// for byte. As much of it as the runtime client asks for.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock, waitAtMost } from '../../../shared/foundation/time/index.ts';

const host = '127.0.0.1';
const prefix = '/2018-06-01/runtime/';
/** What Lambda would give a function. */
const invocationMaxMs = 65_000;

/** What a function sent for one event. */
export interface Delivery {
  readonly contentType: string;
  /** As they arrived: one per write, unless the network put some together. */
  readonly chunks: readonly Buffer[];
  /** Set when the function failed before it wrote anything. */
  readonly errorType: string | undefined;
}

export interface RuntimeApi {
  /** host:port */
  readonly address: string;
  /** Rejects when the function reports a failure of its own, dies or takes too long. */
  invoke(event: object): Promise<Delivery>;
  stop(): Promise<void>;
}

interface Waiting {
  readonly id: string;
  readonly event: string;
  readonly resolve: (delivery: Delivery) => void;
  readonly reject: (cause: Error) => void;
}

export async function startRuntimeApi(): Promise<RuntimeApi> {
  const queue: Waiting[] = [];
  const running = new Map<string, Waiting>();
  let idle: ServerResponse | undefined;

  const handOut = () => {
    if (idle === undefined) return;
    const next = queue.shift();
    if (next === undefined) return;
    running.set(next.id, next);
    idle.writeHead(200, invocationHeaders(next.id)).end(next.event);
    idle = undefined;
  };

  const failAll = (cause: Error) => {
    for (const waiting of [...queue.splice(0), ...running.values()]) waiting.reject(cause);
    running.clear();
  };

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path === `${prefix}invocation/next`) {
      idle = response;
      handOut();
      return;
    }
    const [, id, kind] = /^.*\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    void take(request).then(
      (delivery) => {
        response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
        if (id === undefined) return failAll(new Error(`the function did not start: ${textOf(delivery)}`));
        if (kind === 'error') running.get(id)?.reject(new Error(`the function failed: ${textOf(delivery)}`));
        else running.get(id)?.resolve(delivery);
        running.delete(id);
      },
      (cause: Error) => failAll(cause),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));

  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    invoke(event) {
      const { promise, resolve, reject } = Promise.withResolvers<Delivery>();
      queue.push({ id: systemRandomness.uuid(), event: JSON.stringify(event), resolve, reject });
      handOut();
      return waitAtMost(systemClock, invocationMaxMs, promise, () => {
        throw new Error('the function did not answer in time');
      });
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const invocationHeaders = (id: string) => ({
  'content-type': 'application/json',
  'lambda-runtime-aws-request-id': id,
  'lambda-runtime-deadline-ms': String(systemClock.nowMs() + invocationMaxMs),
  'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:gw-test',
});

/** Rejects when the connection ends before the answer does: the process died on it. */
async function take(request: IncomingMessage): Promise<Delivery> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return {
    contentType: request.headers['content-type'] ?? '',
    chunks,
    errorType: request.trailers['lambda-runtime-function-error-type'],
  };
}

const textOf = ({ chunks }: Delivery): string => Buffer.concat(chunks).toString('utf8').slice(0, 500);
