// One call as a client makes it, with the times a client sees. node:http: its own share is the smallest.
import { Agent, type IncomingMessage, request } from 'node:http';

export interface Target {
  readonly name: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** One socket per connection, kept. */
  readonly agent: Agent;
}

/** `baseUrl` ends in /v1. */
export const targetOf = (name: string, baseUrl: string, headers: Record<string, string>, sockets: number): Target => ({
  name,
  url: new URL(`${baseUrl}/chat/completions`),
  headers: { 'content-type': 'application/json', ...headers },
  agent: new Agent({ keepAlive: true, maxSockets: sockets, scheduling: 'lifo' }),
});

export interface Times {
  /** From sending the request to the first byte of the body. */
  readonly firstMs: number;
  /** To the last byte. */
  readonly totalMs: number;
}

/** Rejects for every status but 200: a bench of refusals would be a fast one. */
export function send(target: Target, body: string, limitMs: number): Promise<Times> {
  const { promise, resolve, reject } = Promise.withResolvers<Times>();
  const startedMs = performance.now();
  let firstMs: number | undefined;
  const headers = { ...target.headers, 'content-length': Buffer.byteLength(body) };
  const outgoing = request(target.url, { method: 'POST', agent: target.agent, headers, timeout: limitMs });
  outgoing.once('timeout', () => outgoing.destroy(new Error(`${target.name} is silent for ${limitMs} ms`)));
  outgoing.once('error', reject);
  outgoing.once('response', (incoming: IncomingMessage) => {
    const isSuccess = incoming.statusCode === 200;
    let words = '';
    incoming.on('data', (part: Buffer) => {
      firstMs ??= performance.now() - startedMs;
      if (!isSuccess) words += part.toString();
    });
    incoming.once('error', reject);
    incoming.once('end', () => {
      const totalMs = performance.now() - startedMs;
      if (isSuccess) resolve({ firstMs: firstMs ?? totalMs, totalMs });
      else reject(new Error(`${target.name} answered ${incoming.statusCode}: ${words.slice(0, 200)}`));
    });
  });
  outgoing.end(body);
  return promise;
}
