// Writes the body of an answer into a server's stream and runs the work that follows its last byte. No function of this
// module rejects. A failure after the first byte is reported in the stream or the log, and an exception would kill the
// Lambda runtime.
import { frameStreamType } from '../../foundation/constants/index.ts';
import { inOneTurn, nextTurn, untilAborted, waitAtMost, waitsUntilAborted } from '../../foundation/time/index.ts';
import { providerSocketBytes, textBytesInMemory } from '../memory-budget/index.ts';
import type { AdapterDependencies, BodyPart, GatewayResponse } from './exchange.ts';

/**
 * Time limit of `finish`, in which a stream is read whose client left (10 s), and then every retry of its settlement
 * runs (9 s).
 */
const finishMaxMs = 20_000;
/** Part of Lambda's remaining time that is reserved for a last log line. */
const lastLineMs = 200;
/** Longest time that an abandoned body may take to end its provider call. */
const closeMaxMs = 2_000;
/**
 * Length of the pieces in which a text is written. A piece is one chunk of Node's streams, far below the size at which
 * a response stream fails.
 */
const pieceMaxCharacters = 16 * 1024;

/** The part of a stream that is used. The stream of the Lambda runtime is a facade and no `Writable`. */
export interface TextSink {
  /**
   * Returns false if the writer has to wait for `drain`. Only strings may be written, because the runtime turns any
   * other object into JSON text.
   */
  write(text: string): boolean;
  write(text: string, encoding: 'latin1'): boolean;
  once(event: 'drain', listener: () => void): unknown;
  off(event: 'drain', listener: () => void): unknown;
}

type Waits = Pick<AdapterDependencies, 'clock' | 'log'>;
type Times = Pick<AdapterDependencies, 'times'>;

export interface Delivery {
  readonly response: GatewayResponse;
  readonly sink: TextSink;
  readonly arrivedAtMs: number;
  /** Aborts when the client hangs up. */
  readonly clientGone: AbortSignal;
  /** Breaks the answer off, so that its client notices. Absent if no answer consists of bytes. */
  readonly cut?: () => void;
  /**
   * Called when the sink is full, with the bytes that wait in memory to be written. A stream is produced no faster than
   * it is read, and its rest waits in the provider's socket.
   */
  readonly onFull?: ((restBytes: number) => void) | undefined;
}

/**
 * Writes the whole body, pausing while the reader is slow. Once the client has left or the time is over, nothing waits
 * any more. An iterable is then closed and its stream ended properly, and the rest of a text is written at once.
 */
export function deliverBody(delivery: Delivery, waits: Waits & Times): Promise<void> | undefined {
  const { response, sink } = delivery;
  const { body } = response;
  const encoding = encodingOf(response);
  const isPiece = typeof body === 'string' && body.length <= pieceMaxCharacters;
  // Most answers are written at once, and then there is nothing to wait for.
  if (isPiece && writeTo(sink, body, encoding)) return undefined;
  return deliverInTime(delivery, { isWritten: isPiece, encoding }, waits);
}

interface BegunDelivery {
  /** The body is with the sink, which is full. */
  readonly isWritten: boolean;
  readonly encoding: 'latin1' | undefined;
}

async function deliverInTime(
  { response, sink, arrivedAtMs, clientGone, cut, onFull }: Delivery,
  { isWritten, encoding }: BegunDelivery,
  waits: Waits & Times,
): Promise<void> {
  const { clock, times } = waits;
  const { body } = response;
  const { text, stream, least } = times.deliveryMs;
  const sinceArrivalMs = clock.nowMs() - arrivedAtMs;
  // A text may start late, because some answers take longer than others.
  const limitMs = typeof body === 'string' ? Math.max(text, sinceArrivalMs + least) : stream;
  const overtime = new AbortController();
  const cancelTimer = clock.after(limitMs - sinceArrivalMs, () => overtime.abort());
  const stop = AbortSignal.any([clientGone, overtime.signal]);
  try {
    const writing = { sink, stop, encoding, onFull };
    if (isWritten) await drained(writing, 0);
    else if (typeof body === 'string') await writeText(body, writing);
    else await writeStream(body, response, { ...writing, clientGone, cut }, waits);
  } finally {
    cancelTimer();
  }
}

async function writeStream(
  body: AsyncIterable<BodyPart>,
  response: GatewayResponse,
  { clientGone, cut, ...writing }: Writing & Pick<Delivery, 'clientGone'> & { readonly cut: Delivery['cut'] },
  waits: Waits,
): Promise<void> {
  const { stop } = writing;
  const iterator = body[Symbol.asyncIterator]();
  const stopped = waitsUntilAborted(stop);
  let hasEnded = false;
  let hasFailed = false;
  try {
    while (!stop.aborted) {
      const next = await stopped.wait(iterator.next());
      if (next === undefined) break;
      if (next.done === true) return;
      hasEnded = next.value.isEnd;
      if (next.value.isCut) cut?.();
      else await writeText(next.value.text, writing, providerSocketBytes);
    }
  } catch (cause) {
    hasFailed = true;
    if (!stop.aborted) waits.log.error({ event: 'body_failed' }, cause);
  } finally {
    stopped.stop();
  }
  await closeIterator(iterator, waits);
  if (hasEnded || clientGone.aborted) return;
  // Audio has no way to express an error.
  if (isSound(response)) cut?.();
  if (isSound(response) || response.errorEndText === undefined) return;
  // Clients interpret a stream that just stops as a successful stream.
  await writeText(response.errorEndText(hasFailed ? 'failed' : 'timed_out'), writing);
}

const writeTo = (sink: TextSink, text: string, encoding: 'latin1' | undefined): boolean =>
  encoding === undefined ? sink.write(text) : sink.write(text, encoding);

const isSound = ({ headers }: Pick<GatewayResponse, 'headers'>): boolean =>
  headers['content-type']?.startsWith('audio/') === true;

/** Returns 'latin1' if the characters of a body are the bytes of something other than text. */
export const encodingOf = (response: Pick<GatewayResponse, 'headers'>): 'latin1' | undefined =>
  isSound(response) || response.headers['content-type'] === frameStreamType ? 'latin1' : undefined;

/** Closes a body that is not going to be read, so that its provider call ends. */
export async function closeBody({ body }: GatewayResponse, waits: Waits): Promise<void> {
  if (typeof body !== 'string') await closeIterator(body[Symbol.asyncIterator](), waits);
}

/**
 * Runs `finish`, for at most `finishMaxMs` and not past `endsAtMs`. A failure of `finish` concerns only the gateway,
 * because the client has its answer.
 */
export function runFinish(
  { finish }: { readonly finish?: GatewayResponse['finish'] | undefined },
  { clock, log }: Waits,
  endsAtMs?: number,
): Promise<void> | undefined {
  if (finish === undefined) return undefined;
  const leftMs = endsAtMs === undefined ? finishMaxMs : endsAtMs - lastLineMs - clock.nowMs();
  const limitMs = Math.max(0, Math.min(finishMaxMs, leftMs));
  const report = (cause: unknown) => log.error({ event: 'finish_failed' }, cause);
  try {
    const overTime = () => log.error({ event: 'finish_over_time' });
    return waitAtMost(clock, limitMs, finish(), overTime).catch(report);
  } catch (cause) {
    report(cause);
    return undefined;
  }
}

interface Writing {
  readonly sink: TextSink;
  readonly stop: AbortSignal;
  readonly encoding: 'latin1' | undefined;
  readonly onFull: Delivery['onFull'];
}

/** `socketBytes` wait elsewhere until this text is written. */
async function writeText(text: string, writing: Writing, socketBytes = 0): Promise<void> {
  const { sink, encoding } = writing;
  const pieces = text.length <= pieceMaxCharacters ? [text] : textPieces(text, pieceMaxCharacters);
  let written = 0;
  let leftCharacters = text.length;
  let characterBytes: number | undefined;
  for (const piece of pieces) {
    leftCharacters -= piece.length;
    if (!writeTo(sink, piece, encoding)) {
      characterBytes ??= text === '' ? 1 : textBytesInMemory(text) / text.length;
      await drained(writing, characterBytes * leftCharacters + socketBytes);
    }
    written += piece.length;
    // A fast reader would read the whole text in one turn.
    if (written <= inOneTurn.passedBytes) continue;
    await nextTurn();
    written = 0;
  }
}

/**
 * Splits a text into pieces of bounded length at character borders, because half of a surrogate pair, written by
 * itself, becomes U+FFFD. An empty text is one empty piece, because the first write sends status and headers.
 */
export function* textPieces(text: string, maxCharacters: number): Generator<string> {
  let start = 0;
  do {
    let end = Math.min(start + maxCharacters, text.length);
    if (end < text.length && end - start > 1 && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield text.slice(start, end);
    start = end;
  } while (start < text.length);
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** Waits until the sink takes more, or nothing waits any more. */
async function drained({ sink, stop, onFull }: Writing, restBytes: number): Promise<void> {
  onFull?.(restBytes);
  if (stop.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  sink.once('drain', resolve);
  await untilAborted(promise, stop);
  sink.off('drain', resolve);
}

async function closeIterator(iterator: AsyncIterator<BodyPart>, { clock, log }: Waits): Promise<void> {
  try {
    const returned = iterator.return?.();
    if (returned === undefined) return;
    await waitAtMost(clock, closeMaxMs, returned, () => log.error({ event: 'body_not_closed' }));
  } catch (cause) {
    log.error({ event: 'body_not_closed' }, cause);
  }
}
