// Calls of providers: the answer's head, then its body piece by piece.
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { keepAliveIdleMs, socketsPerProviderMax } from '../../foundation/constants/index.ts';
import { ConnectionBroken, createOutgoingCalls } from '../../foundation/outgoing/index.ts';
import { type Clock, nextTurn } from '../../foundation/time/index.ts';

export interface UpstreamRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connectTimeoutMs: number;
  /** Aborting closes the socket, before or after the answer began. */
  readonly signal: AbortSignal;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Leaving the loop early keeps the socket: `drain` what is left, or abort the signal. */
  readonly body: AsyncIterable<Buffer>;
  /** Reads on to the end and drops it, so that the socket returns to the pool; not for longer than a moment. */
  readonly drain: () => void;
}

export interface Transport {
  /** Rejects with ConnectionBroken where the provider was not reached, or went away. */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  close(): void;
}

/** What is left behind an end marker is a few bytes; a provider that keeps them back loses its socket. */
const drainLimitMs = 1_000;

export function createTransport(clock: Clock): Transport {
  const calls = createOutgoingCalls({ clock, socketsMax: socketsPerProviderMax, idleSocketMs: keepAliveIdleMs });
  const sendOnce = async ({ body, ...request }: UpstreamRequest): Promise<UpstreamAnswer> =>
    toAnswer(clock, await calls.send({ ...request, method: 'POST', body: Buffer.from(body) }));

  return {
    async send(request) {
      try {
        return await sendOnce(request);
      } catch (error) {
        // Most likely the request never arrived: one more try, on a fresh socket.
        if (!(error instanceof ConnectionBroken) || !error.wasDead) throw error;
        return sendOnce(request);
      }
    },
    close: () => calls.close(),
  };
}

function toAnswer(clock: Clock, incoming: IncomingMessage): UpstreamAnswer {
  // A reader gets a fault from the read; one in an answer that is not read must not be thrown into the process.
  incoming.on('error', () => {});
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body: incoming.iterator({ destroyOnReturn: false }),
    drain: () => {
      const cancel = clock.after(drainLimitMs, () => incoming.destroy());
      incoming.once('close', cancel);
      incoming.resume();
    },
  };
}

/** Made one text in a few milliseconds. */
const longBodyBytes = 2 * 1024 * 1024;

/** Reads a body to its end. Undefined: it is larger than `maxBytes`; what was read is dropped. */
export async function readBoundedBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onBytes: () => void,
): Promise<string | undefined> {
  // Decoded as it comes: all at once, a long one would hold up others.
  const decoder = new StringDecoder('utf8');
  const parts: string[] = [];
  let size = 0;
  for await (const bytes of body) {
    size += bytes.length;
    if (size > maxBytes) return undefined;
    parts.push(decoder.write(bytes));
    onBytes();
  }
  // Many bodies may end at once.
  if (size > longBodyBytes) await nextTurn();
  return parts.join('') + decoder.end();
}
