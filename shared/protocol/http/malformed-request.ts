// Answers what the HTTP parser refuses (a broken request line, too many header bytes, a request that takes too long)
// with our envelope instead of Node's bare status line.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { fail, toEnvelope } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';

/** `current`: the answer under way on this connection, if any. Nothing may be written into the middle of one. */
export function refuseMalformed(socket: Duplex, current: ServerResponse | undefined, randomness: Randomness): void {
  if (!socket.writable || current?.headersSent === true) {
    socket.destroy();
    return;
  }
  const correlationId = randomness.uuid();
  const error = fail('invalid_request', { message: 'The HTTP request is malformed, too large or too slow.' });
  const { status, headers, body } = toEnvelope(error, correlationId);
  const lines = Object.entries({
    ...headers,
    [headerNames.requestId]: correlationId,
    [headerNames.traceId]: correlationId,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  );
}
