// The body of a node:http request: read when it is asked for, never more of it than the hard size, and never more of all
// bodies together, or of one key's, than a budget allows.
import type { IncomingMessage } from 'node:http';
import { fail, GatewayError } from '../../errors/index.ts';
import { plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';

/**
 * What the bodies of all running calls of a process may take together: 32 of the largest, or 1,700 of the 76 KB that a
 * coding agent sends. A body is kept for as long as its call runs.
 */
export const allBodiesMaxBytes = 128 * 1024 * 1024;
/** What the calls of one key may take of it, so that no key keeps the others out. */
export const keyBodiesMaxBytes = allBodiesMaxBytes / 2;

/** What is read and dropped behind a refused body, and for how long: a 16 MB upload still gets to see its answer. */
const discardMaxBytes = 16 * 1024 * 1024;
const discardMaxMs = 3_000;

export interface BodyBudget {
  /** False: so much more would exceed what all keys, or this one, may take. */
  reserve(keyId: string, bytes: number): boolean;
  giveBack(keyId: string, bytes: number): void;
}

export function createBodyBudget(): BodyBudget {
  let reserved = 0;
  /** Keys with a running call only. */
  const reservedByKey = new Map<string, number>();
  return {
    reserve(keyId, bytes) {
      const ofKey = (reservedByKey.get(keyId) ?? 0) + bytes;
      if (reserved + bytes > allBodiesMaxBytes || ofKey > keyBodiesMaxBytes) return false;
      reserved += bytes;
      reservedByKey.set(keyId, ofKey);
      return true;
    },
    giveBack(keyId, bytes) {
      reserved -= bytes;
      const ofKey = (reservedByKey.get(keyId) ?? 0) - bytes;
      if (ofKey > 0) reservedByKey.set(keyId, ofKey);
      else reservedByKey.delete(keyId);
    },
  };
}

export interface IncomingBody {
  /** What the parser refuses of it so far. */
  fault(): GatewayError | undefined;
  /** The whole body, read once, in the name of a key that exists. Rejects with the GatewayError that refuses it. */
  read(keyId: string): Promise<Buffer>;
  /** Returns its bytes to the budget. */
  giveBack(): void;
}

/** `beforeReading` runs once, before the first byte is asked for. */
export function incomingBody(
  request: IncomingMessage,
  budget: BodyBudget,
  beforeReading: () => void = () => {},
): IncomingBody {
  let fault: GatewayError | undefined;
  let refuseReading = (_error: GatewayError) => {};
  // A request that breaks off later shows by `close`; without a listener its error would end the process.
  request.on('error', (error) => {
    if (!(error instanceof GatewayError)) return;
    fault = error;
    refuseReading(error);
  });
  let reading: Promise<Buffer> | undefined;
  let giveBack = () => {};

  const read = (keyId: string): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      if (declaredBytes(request) > plainBodyMaxBytes) return reject(fail('request_too_large'));
      if (fault !== undefined) return reject(fault);
      if (request.destroyed && !request.readableEnded) return reject(cutOff());
      const chunks: Buffer[] = [];
      let size = 0;
      let reserved = 0;
      giveBack = () => {
        budget.giveBack(keyId, reserved);
        reserved = 0;
      };
      const stop = () => request.off('data', onData).off('end', onEnd).off('close', onClose).pause();
      const refuse = (error: Error) => {
        stop();
        reject(error);
      };
      const onData = (chunk: Buffer) => {
        size += chunk.length;
        if (size > plainBodyMaxBytes) return refuse(fail('request_too_large'));
        if (!budget.reserve(keyId, chunk.length)) return refuse(noRoom());
        reserved += chunk.length;
        chunks.push(chunk);
      };
      const onEnd = () => {
        stop();
        resolve(Buffer.concat(chunks, size));
      };
      const onClose = () => refuse(cutOff());
      refuseReading = refuse;
      beforeReading();
      request.on('data', onData).on('end', onEnd).on('close', onClose);
    });

  return {
    fault: () => fault,
    read(keyId) {
      reading ??= read(keyId);
      return reading;
    },
    giveBack: () => giveBack(),
  };
}

const cutOff = () => fail('invalid_request', { message: 'The body ended before it was complete.' });

const noRoom = () =>
  fail('RATE_LIMITER_UNAVAILABLE', {
    message: 'The bodies of running calls fill the memory set aside for them.',
    exhausted: 'process_memory',
  });

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
