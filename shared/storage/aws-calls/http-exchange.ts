// One request to an AWS endpoint and its whole answer, of bounded size.
import type { IncomingMessage } from 'node:http';
import { ConnectionBroken, type OutgoingCalls, type OutgoingRequest } from '../../foundation/outgoing/index.ts';

/** Inside a region it takes some 10 ms, on a small function that just woke ten times that. */
const connectTimeoutMs = 500;

export interface HttpExchange extends Omit<OutgoingRequest, 'connectTimeoutMs'> {
  readonly answerMaxBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** Asking again would bring the same. */
class AnswerTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`an answer of over ${maxBytes} bytes`);
  }
}

/** Rejects with ConnectionBroken, or with another Error for an answer that is larger than `answerMaxBytes`. */
export async function exchangeHttp(
  calls: OutgoingCalls,
  { answerMaxBytes, ...request }: HttpExchange,
): Promise<HttpAnswer> {
  request.signal.throwIfAborted();
  const incoming = await calls.send({ ...request, connectTimeoutMs });
  return readAnswer(incoming, answerMaxBytes);
}

/** Closes the socket with the first part that exceeds `maxBytes`. Events, not an iterator: this is on every call's way. */
function readAnswer(incoming: IncomingMessage, maxBytes: number): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const parts: Buffer[] = [];
  let bytes = 0;
  incoming.on('data', (part: Buffer) => {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > maxBytes) incoming.destroy(new AnswerTooLarge(maxBytes));
  });
  incoming.once('end', () => resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(parts, bytes) }));
  incoming.on('error', (error) => reject(error instanceof AnswerTooLarge ? error : new ConnectionBroken(error, true)));
  return promise;
}
