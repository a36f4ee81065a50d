// The body of a node:http request: read when it is asked for, never more of it than the hard size, and as the memory of its
// call has space.
import type { IncomingMessage } from 'node:http';
import { fail, GatewayError } from '../../errors/index.ts';
import { plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import { gatherBytes } from '../../foundation/heap/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { CallMemory } from '../memory-budget/index.ts';

/** What is read and dropped behind a refused body, and for how long: a 16 MB upload still gets to see its answer. */
const discardMaxBytes = 16 * 1024 * 1024;
const discardMaxMs = 3_000;

export interface IncomingBody {
  /** What the parser refuses of it so far. */
  fault(): GatewayError | undefined;
  /** The whole body, which is not kept here: it can be read once. Rejects with the GatewayError that refuses it. */
  read(memory: CallMemory): Promise<Buffer>;
}

/** `beforeReading` runs once, before the first byte is asked for. */
export function incomingBody(request: IncomingMessage, beforeReading: () => void = () => {}): IncomingBody {
  let fault: GatewayError | undefined;
  let refuseReading = (_error: GatewayError) => {};
  // A request that breaks off later shows by `close`; without a listener its error would end the process.
  request.on('error', (error) => {
    if (!(error instanceof GatewayError)) return;
    fault = error;
    refuseReading(error);
  });
  let isRead = false;

  const read = (memory: CallMemory): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      if (declaredBytes(request) > plainBodyMaxBytes) return reject(fail('request_too_large'));
      if (fault !== undefined) return reject(fault);
      if (request.destroyed && !request.readableEnded) return reject(cutOff());
      const gathered = gatherBytes(declaredBytes(request));
      const stop = () => request.off('data', onData).off('end', onEnd).off('close', onClose).pause();
      const refuse = (error: Error) => {
        stop();
        gathered.drop();
        reject(error);
      };
      const onData = (chunk: Buffer) => {
        if (gathered.length + chunk.length > plainBodyMaxBytes) return refuse(fail('request_too_large'));
        gathered.add(chunk);
        const space = memory.reserve(chunk.length);
        if (space === undefined) return;
        request.pause();
        space.then(() => request.resume(), refuse);
      };
      const onEnd = () => {
        stop();
        resolve(gathered.take());
      };
      const onClose = () => refuse(cutOff());
      refuseReading = refuse;
      beforeReading();
      request.on('data', onData).on('end', onEnd).on('close', onClose);
    });

  return {
    fault: () => fault,
    read(memory) {
      if (isRead) return Promise.reject(new Error('a body that was read before'));
      isRead = true;
      return read(memory);
    },
  };
}

const cutOff = () => fail('invalid_request', { message: 'The body ended before it was complete.' });

/** What its headers say; 0 where they do not. */
export const declaredBytes = ({ headers }: IncomingMessage): number => Number(headers['content-length'] ?? 0);

/** The rest of a body that is not longer than this is left to Node, which reads it and keeps the connection. */
const shortRestMaxBytes = 64 * 1024;

/** Whether so much of the body may still be on its way that its connection must end with the answer. */
export const hasLongRest = ({ complete, headers }: IncomingMessage): boolean =>
  !complete &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > shortRestMaxBytes);

/**
 * Reads and drops what is left of a body that was not read. A connection closed with unread bytes is reset, and a reset
 * takes the answer that is on its way with it.
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
