// Reads the body of a node:http request, never more of it than the hard size.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../foundation/time/index.ts';
import type { RequestBody } from './exchange.ts';

/** What is read and dropped behind a refused body, and for how long: a 16 MB upload still gets to see its answer. */
const discardMaxBytes = 16 * 1024 * 1024;
const discardMaxMs = 3_000;

/** The whole body; or that it is over `maxBytes`, with the rest unread; or `undefined` when the client left. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<RequestBody | undefined> {
  // A request that breaks off later is told by `close`; without a listener its error would end the process.
  request.on('error', () => {});
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve({ kind: 'too_large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (body: RequestBody | undefined) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(body);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      request.pause();
      settle({ kind: 'too_large' });
    };
    const onEnd = () => settle({ kind: 'bytes', bytes: Buffer.concat(chunks, size) });
    const onClose = () => settle(undefined);
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/**
 * Reads and drops what is left of a refused body. A connection closed with unread bytes is reset, and a reset takes
 * the answer that is on its way with it.
 */
export function discardRest(request: IncomingMessage, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) return resolve();
    let size = 0;
    const cancel = clock.after(discardMaxMs, settle);
    function settle() {
      cancel();
      request.off('data', onData).off('end', settle).off('close', settle);
      request.pause();
      resolve();
    }
    function onData(chunk: Buffer) {
      size += chunk.length;
      if (size > discardMaxBytes) settle();
    }
    request.on('data', onData).on('end', settle).on('close', settle).resume();
  });
}
