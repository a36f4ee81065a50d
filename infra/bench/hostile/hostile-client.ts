// Sends a request as bytes, complete or not, and reads its answer, or disconnects.
import { connect } from 'node:net';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import type { HostileRequest } from './hostile-requests.ts';
import type { SeededRandom } from './seeded-random.ts';

/** Time limit of an answer, longer than any call may take. */
const answerTimeoutMs = 65_000;
const disconnectMaxMs = 1_500;

interface HostileAnswer {
  /**
   * Status of the answer to a valid request. Undefined for an invalid request, and for a request whose client
   * disconnected.
   */
  readonly status: number | 'none' | undefined;
}

/** `cut`: the client disconnects before it has sent the whole request. */
type RequestBytes = 'whole' | 'broken' | 'cut';

/** Sends a request and reads its answer. Never rejects. */
export function sendHostileRequest(
  port: number,
  request: HostileRequest,
  random: SeededRandom,
): Promise<HostileAnswer> {
  const { sent, pieces } = bytesOf(request, random);
  const disconnectAfterMs = sent === 'whole' && random.chance(0.8) ? undefined : random.below(disconnectMaxMs);
  const reads = disconnectAfterMs === undefined || random.chance(0.5);
  const { promise, resolve } = Promise.withResolvers<HostileAnswer>();
  const socket = connect(port, '127.0.0.1');
  let head = '';
  const end = () => {
    cancel();
    socket.destroy();
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
    resolve({ status: disconnectAfterMs === undefined ? (status === undefined ? 'none' : Number(status)) : undefined });
  };
  const disconnect = () => {
    if (random.chance(0.5)) socket.resetAndDestroy();
    end();
  };
  const cancel = systemClock.after(disconnectAfterMs ?? answerTimeoutMs, disconnect);
  socket.on('error', end).on('close', end);
  if (reads) {
    socket.on('data', (piece) => {
      // An interim answer comes before the final answer.
      head = head.startsWith('HTTP/1.1 100') ? '' : head;
      if (head.length < 32)
        head += piece
          .toString('latin1')
          .replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')
          .slice(0, 32);
    });
  }
  for (const piece of pieces) socket.write(piece);
  return promise;
}

function bytesOf({ method, path, headers, body }: HostileRequest, random: SeededRandom) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const headOf = (framing: string) =>
    Buffer.from(
      `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n${lines.join('')}${framing}\r\n`,
      'latin1',
    );
  const whole = () => Buffer.concat([headOf(`content-length: ${body.length}\r\n`), body]);
  const kind = random.fraction();
  if (kind < 0.7) return { sent: 'whole' as RequestBytes, pieces: [whole()] };
  if (kind < 0.8)
    return { sent: 'whole' as RequestBytes, pieces: [headOf('transfer-encoding: chunked\r\n'), chunked(body)] };
  if (kind < 0.86) return { sent: 'cut' as RequestBytes, pieces: [whole().subarray(0, random.below(whole().length))] };
  if (kind < 0.9)
    return {
      sent: 'broken' as RequestBytes,
      pieces: [headOf(`content-length: ${random.below(body.length + 9)}\r\n`), body],
    };
  const changedBytes = whole();
  for (let at = 0; at <= random.below(4); at += 1) changedBytes[random.below(changedBytes.length)] = random.below(256);
  return { sent: 'broken' as RequestBytes, pieces: random.chance(0.5) ? [changedBytes] : [changedBytes, changedBytes] };
}

const chunked = (body: Buffer): Buffer =>
  body.length === 0
    ? Buffer.from('0\r\n\r\n')
    : Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
