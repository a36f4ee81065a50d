// The body of a request: read on demand, bounded by the hard size, no faster than its reader takes it.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { fail, GatewayError } from '../../errors/index.ts';
import { formBodyMaxBytes, plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import { gatherBytes } from '../../foundation/heap/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { BodyReading } from './exchange.ts';

/** Bytes that are read and dropped after a refused body, and for how long: the client of the longest form still receives its answer. */
const discardMaxBytes = formBodyMaxBytes + 1024 * 1024;
const discardMaxMs = 10_000;

export interface IncomingBody {
  /** The parser's refusal of the body so far. */
  fault(): GatewayError | undefined;
  /**
   * Reads the whole body, which is not kept here: it can be read once. Rejects with the GatewayError that refuses it.
   */
  read(reading?: BodyReading): Promise<Buffer>;
  /** Returns true where its reader gave it up: its connection ends with the answer, however short the rest is. */
  isGivenUp(): boolean;
}

/** `beforeReading` runs once, before the first byte is asked for. */
export function incomingBody(request: Readable, declaredBytes: number, beforeReading: () => void): IncomingBody {
  let fault: GatewayError | undefined;
  let refuseReading = (_error: GatewayError) => {};
  // A request that breaks off later shows by `close`; without a listener its error would end the process.
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
      // A stream of HTTP/2 that is reset has an end all the same, behind `aborted`.
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

/** Length declared in the headers; 0 where there is none. */
export const declaredBytes = (headers: { readonly 'content-length'?: string | undefined }): number =>
  Number(headers['content-length'] ?? 0);

/** Bound up to which the rest of a body is left to Node, which reads it and keeps the connection. */
const shortRestMaxBytes = 64 * 1024;

/** Whether the rest of the body may be so long that its connection must end with the answer. */
export const hasLongRest = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || declaredBytes(headers) > shortRestMaxBytes);

/**
 * Reads and drops the rest of an unread body. Closing a connection with unread bytes resets it, and the reset destroys
 * the answer on its way.
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
