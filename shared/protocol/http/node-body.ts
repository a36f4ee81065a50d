// Reads the body of a request on demand, bounded in size, no faster than its reader reads.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { fail, GatewayError } from '../../errors/index.ts';
import { formBodyMaxBytes, plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import { gatherBytes } from '../../foundation/heap/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { BodyReading } from './exchange.ts';

/**
 * Bounds of reading after a refused body, in bytes and milliseconds; the bytes are dropped. The bounds allow the client
 * of the longest form to receive its answer.
 */
const discardMaxBytes = formBodyMaxBytes + 1024 * 1024;
const discardMaxMs = 10_000;

export interface IncomingBody {
  /** Returns the parser's refusal of the body so far. */
  fault(): GatewayError | undefined;
  /** Reads the whole body, once, because it is not stored. Rejects with the GatewayError that refuses the body. */
  read(reading?: BodyReading): Promise<Buffer>;
  /**
   * Returns true if the reader abandoned the body. The connection then ends with the answer, however short the rest is.
   */
  isGivenUp(): boolean;
}

/** Returns a reader of the body. `beforeReading` runs once, before the first byte is read. */
export function incomingBody(request: Readable, declaredBytes: number, beforeReading: () => void): IncomingBody {
  let fault: GatewayError | undefined;
  let refuseReading = (_error: GatewayError) => {};
  // A request that breaks off later emits `close`; without a listener its error would end the process.
  request.on('error', (error) => {
    if (!(error instanceof GatewayError)) return;
    fault = error;
    refuseReading(error);
  });
  let isRead = false;
  let isGivenUp = false;

  const read = ({ maxBytes = plainBodyMaxBytes, came, signal }: BodyReading): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      if (declaredBytes > maxBytes) return reject(fail('request_too_large'));
      if (fault !== undefined) return reject(fault);
      if (request.destroyed && !request.readableEnded) return reject(cutOff());
      const gathered = gatherBytes(declaredBytes);
      const stop = () => {
        request.off('data', onData).off('end', onEnd).off('aborted', onClose).off('close', onClose).pause();
        signal?.removeEventListener('abort', giveUp);
      };
      const refuse = (error: Error) => {
        stop();
        gathered.drop();
        reject(error);
      };
      const onData = (chunk: Buffer) => {
        if (gathered.length + chunk.length > maxBytes) return refuse(fail('request_too_large'));
        gathered.add(chunk);
        const waits = came?.(gathered.length);
        if (waits === undefined) return;
        request.pause();
        waits.then(() => request.resume(), refuse);
      };
      const giveUp = () => {
        isGivenUp = true;
        refuse(signal?.reason as Error);
      };
      const onEnd = () => {
        stop();
        resolve(gathered.take());
      };
      const onClose = () => refuse(cutOff());
      refuseReading = refuse;
      beforeReading();
      signal?.addEventListener('abort', giveUp, { once: true });
      // An HTTP/2 stream that is reset emits `end` all the same, after `aborted`.
      request.on('data', onData).on('end', onEnd).on('aborted', onClose).on('close', onClose);
    });

  return {
    fault: () => fault,
    isGivenUp: () => isGivenUp,
    read(reading = {}) {
      if (isRead) return Promise.reject(new Error('a body that was read before'));
      isRead = true;
      return read(reading);
    },
  };
}

const cutOff = () => fail('invalid_request', { message: 'The body ended before it was complete.' });

/** Returns the length declared in the headers; 0 if there is none. */
export const declaredBytes = (headers: { readonly 'content-length'?: string | undefined }): number =>
  Number(headers['content-length'] ?? 0);

/** Bound up to which Node reads the rest of a body itself, and keeps the connection. */
const shortRestMaxBytes = 64 * 1024;

/** True if the rest of the body may be so long that its connection must end with the answer. */
export const hasLongRest = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || declaredBytes(headers) > shortRestMaxBytes);

/**
 * Reads and drops the rest of an unread body. Closing a connection with unread bytes resets it, and the reset destroys
 * the answer before it arrives.
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
