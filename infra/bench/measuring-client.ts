// Calls chat completions and measures waiting times. The client uses node:http, whose own share of the time is small.
// Autocannon counts whole milliseconds, and reports neither first bytes nor pauses between calls.
import { Agent, request } from 'node:http';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';

interface MeasuredAnswer {
  /** HTTP status; 0 if the connection broke, or if no complete answer arrived in time. */
  readonly status: number;
  /** The body, or the reason why it is missing. */
  readonly text: string;
  /** Header of the answer, if it has one. */
  readonly retryAfter: string | undefined;
  /** Time of the start, as performance.now() returns it. */
  readonly startedAtMs: number;
  /** Time until the first byte of the body, and until the last. */
  readonly firstByteMs: number;
  readonly totalMs: number;
}

/** Address of a gateway, or of the provider itself. `url` ends in /v1. */
export interface MeasuredEndpoint {
  readonly name: string;
  readonly url: string;
  /** Path below the URL. If absent, the path of chat completions. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BenchCall {
  /** Body of the request. Bytes are not copied for each call. */
  readonly body: string | Uint8Array;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Time limit of a call, longer than the gateway's own. */
const callTimeoutMs = 60_000;

export function createClient(
  { name, url, path = '/chat/completions', headers: endpointHeaders }: MeasuredEndpoint,
  connections: number,
) {
  const target = url + path;
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'lifo' });
  /** Sends one call. Never rejects. */
  const send = ({ body, key, headers: more }: BenchCall): Promise<MeasuredAnswer> => {
    const { promise, resolve } = Promise.withResolvers<MeasuredAnswer>();
    const startedAtMs = performance.now();
    let firstByteMs: number | undefined;
    const end = (status: number, text: string, retryAfter?: string) => {
      stopTimer();
      const totalMs = performance.now() - startedAtMs;
      resolve({ status, text, retryAfter, startedAtMs, firstByteMs: firstByteMs ?? totalMs, totalMs });
    };
    const broke = ({ message }: Error) => end(0, message);
    const common = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const headers = { ...common, ...endpointHeaders, ...(key && { authorization: `Bearer ${key}` }), ...more };
    const outgoing = request(target, { method: 'POST', agent, headers }, (incoming) => {
      let text = '';
      incoming.once('data', () => (firstByteMs = performance.now() - startedAtMs));
      incoming.on('data', (part) => (text += part));
      incoming.once('error', broke);
      incoming.once('end', () => end(incoming.statusCode ?? 0, text, incoming.headers['retry-after']));
    });
    const stopTimer = systemClock.after(callTimeoutMs, () => outgoing.destroy(new Error('no whole answer in time')));
    outgoing.once('error', broke);
    outgoing.end(body);
    return promise;
  };
  return { name, send, close: () => agent.destroy() };
}

export type MeasuringClient = ReturnType<typeof createClient>;

/** If other processes use the machine, the store may take longer than the two seconds for which a call waits for it. */
const storeTooSlow = 503;
const sendsMax = 20;

/** Sends one call that must succeed, and repeats it if the store was too slow. */
export async function sendOne(client: MeasuringClient, call: BenchCall): Promise<MeasuredAnswer> {
  for (let sends = 1; ; sends += 1) {
    const answer = await client.send(call);
    if (answer.status === 200) return answer;
    if (answer.status === storeTooSlow && sends < sendsMax) continue;
    throw new Error(`${client.name} answered ${answer.status}: ${answer.text.slice(0, 300)}`);
  }
}

/**
 * Sends calls in a closed loop. Each connection pauses and sends its next call after the complete answer to the
 * previous call.
 */
export async function drive(client: MeasuringClient, call: BenchCall, count: number, connections: 1 | 32, pauseMs = 0) {
  const all: MeasuredAnswer[] = [];
  let started = 0;
  const startedAtMs = performance.now();
  const connection = async () => {
    while (started < count) {
      started += 1;
      if (pauseMs > 0) await sleep(systemClock, pauseMs);
      all.push(await client.send(call));
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  const answers = all.filter(({ status }) => status === 200);
  return { answers, failed: count - answers.length, elapsedMs: performance.now() - startedAtMs };
}

/** A prompt of about 2 KB, the size of a system prompt and a question. */
const question = 'How much does a gateway cost, and whom? '.repeat(25);
const systemMessage = { role: 'system', content: `You answer in one sentence. ${question}` };

export const jsonBody = (model: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ model, messages: [systemMessage, { role: 'user', content: question }], max_tokens: 512, ...more });
export const streamBody = (model: string): string => jsonBody(model, { stream: true });
