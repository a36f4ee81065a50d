// Error answers that an adapter gives by itself: what the core never saw, or what escaped from it.
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { fail, type GatewayError, toEnvelope } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import type { AdapterDependencies, GatewayResponse } from './exchange.ts';

/** The envelope of an error under its correlation id, which is the trace id too: the request's own was not read. */
export function errorAnswer(error: GatewayError, correlationId: string): GatewayResponse & { readonly body: string } {
  const { status, headers, body } = toEnvelope(error, correlationId);
  const ids = { [headerNames.requestId]: correlationId, [headerNames.traceId]: correlationId };
  return { status, headers: { ...headers, ...ids }, body };
}

/** The answer to a failure that nothing else answered: 500, its cause in the log under the same id. */
export function internalErrorAnswer(
  cause: unknown,
  { randomness, log }: Pick<AdapterDependencies, 'randomness' | 'log'>,
): GatewayResponse {
  const correlationId = randomness.uuid();
  log.error({ event: 'request_failed', correlation_id: correlationId }, cause);
  return errorAnswer(fail('internal_error', { cause }), correlationId);
}

/** Writes an answer into a socket where there is no response object for it, and closes the connection. */
export function writeRawAnswer(socket: Duplex, answer: GatewayResponse & { readonly body: string }): void {
  const { status, headers, body } = answer;
  const all = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  );
}
