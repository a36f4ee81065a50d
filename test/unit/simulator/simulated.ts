// Common parts of the simulator's tests: a raw HTTP client that shows the bytes as they are sent.
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type Simulator, startSimulator } from '../../../infra/local/simulator/index.ts';

export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The bytes, one entry for each HTTP chunk. */
  readonly pieces: readonly Buffer[];
  readonly text: string;
  /** Whether the connection broke before the body was whole. */
  readonly isBroken: boolean;
}

interface Sent {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly method?: string;
  readonly onPiece?: (text: string) => void;
}

/** Sends a request and reads the whole answer. Rejects when the connection breaks before the status line. */
export function send(url: string, body: unknown, sendOptions: Sent = {}): Promise<WireAnswer> {
  const { onPiece, ...options } = sendOptions;
  return new Promise((resolve, reject) => {
    let hasAnswer = false;
    const outgoing = httpRequest(url, { method: 'POST', ...options, agent: new Agent() }, (response) => {
      hasAnswer = true;
      const pieces: Buffer[] = [];
      const finish = (isBroken: boolean) =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          pieces,
          text: Buffer.concat(pieces).toString('utf8'),
          isBroken,
        });
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        onPiece?.(piece.toString('utf8'));
      });
      response.on('end', () => finish(false));
      response.on('error', () => finish(true));
    });
    // The response reports errors after its beginning.
    outgoing.on('error', (reason) => hasAnswer || reject(reason));
    outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

export const userMessage = (content: unknown) => ({ role: 'user', content });

/** Calls chat completions with a behaviour as the model. */
export const ask = (
  simulator: Simulator,
  model: string,
  members: object = {},
  sendOptions?: Sent,
): Promise<WireAnswer> =>
  send(
    `${simulator.url}/chat/completions`,
    { model, messages: [userMessage('What is the capital of France?')], ...members },
    sendOptions,
  );

export const streamed = { stream: true, stream_options: { include_usage: true } };

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape.
type Json = any;

/** Returns the `data:` payloads of an event stream. */
const dataOf = (text: string): readonly string[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));

/** Returns the chunks, without the end marker. */
export const chunksOf = (text: string): readonly Json[] =>
  dataOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data));

export const contentOf = (text: string, index = 0): string =>
  chunksOf(text)
    .flatMap((chunk) => chunk.choices ?? [])
    .filter((choice: Json) => choice.index === index)
    .map((choice: Json) => choice.delta.content ?? '')
    .join('');

export const usageOf = (text: string): Json => chunksOf(text).findLast((chunk) => chunk.usage)?.usage;

/** Runs a test with its own simulator, which is stopped whatever happens. */
export async function withSimulator(
  run: (simulator: Simulator) => Promise<void>,
  options: Parameters<typeof startSimulator>[0] = {},
) {
  const simulator = await startSimulator({ paceMs: 0, ...options });
  try {
    await run(simulator);
  } finally {
    await simulator.stop();
  }
}
