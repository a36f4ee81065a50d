// Writes the body of an answer into a server's stream and runs what follows its last byte. Nothing here rejects: a
// failure after the first byte belongs into the stream or the log, and one thrown into the Lambda runtime kills it.
import { type AdapterDependencies, finishMaxMs, pieceMaxCharacters, releaseMaxMs, type StopReason } from './adapter.ts';
import { settledWithin, untilAborted } from './bounded-wait.ts';
import { type BrokenStreamCode, brokenStreamEnding, tailCharacters } from './broken-stream.ts';
import type { GatewayResponse } from './exchange.ts';
import { textPieces } from './text-pieces.ts';

/** All that is asked of a stream: the one of the Lambda runtime is a facade and no `Writable`. */
export interface TextSink {
  /** False: wait for `drain`. Strings only, the runtime turns any other object into JSON text. */
  write(text: string): boolean;
  once(event: 'drain', listener: () => void): unknown;
  off(event: 'drain', listener: () => void): unknown;
}

type Waits = Pick<AdapterDependencies, 'clock' | 'log'>;

/**
 * Writes all of the body, pausing while the reader is slow. Once `stop` aborts (its reason is a StopReason) there is no
 * more waiting: an iterable is given back and its stream closed properly, what is left of a text is written at once.
 */
export async function deliverBody(
  response: GatewayResponse,
  sink: TextSink,
  stop: AbortSignal,
  waits: Waits,
): Promise<void> {
  const { body } = response;
  if (typeof body === 'string') return writeText(body, sink, stop);
  const iterator = body[Symbol.asyncIterator]();
  let tail = '';
  let broken: BrokenStreamCode | undefined;
  try {
    for (;;) {
      if (stop.aborted) break;
      const next = await untilAborted(iterator.next(), stop);
      if (next === undefined) break;
      if (next.done === true) return;
      await writeText(next.value, sink, stop);
      tail = (tail + next.value).slice(-tailCharacters);
    }
  } catch (cause) {
    broken = 'no_available_provider';
    if (!stop.aborted) waits.log.error({ event: 'body_failed' }, cause);
  }
  await release(iterator, waits);
  if (stop.aborted && (stop.reason as StopReason) === 'client_gone') return;
  broken ??= 'request_deadline_exceeded';
  if (isEventStream(response)) await writeText(brokenStreamEnding(tail, broken), sink, stop);
}

/** Lets go of a body that nobody will read, so that its provider call is aborted. */
export async function releaseBody({ body }: GatewayResponse, waits: Waits): Promise<void> {
  if (typeof body !== 'string') await release(body[Symbol.asyncIterator](), waits);
}

/** Runs `finish`, at most `finishMaxMs`. Its failure is ours alone: the client has its answer. */
export async function runFinish(response: GatewayResponse, { clock, log }: Waits): Promise<void> {
  if (response.finish === undefined) return;
  try {
    const done = await settledWithin(clock, response.finish(), finishMaxMs);
    if (!done) log.error({ event: 'finish_over_time' });
  } catch (cause) {
    log.error({ event: 'finish_failed' }, cause);
  }
}

async function writeText(text: string, sink: TextSink, stop: AbortSignal): Promise<void> {
  for (const piece of textPieces(text, pieceMaxCharacters)) {
    if (!sink.write(piece) && !stop.aborted) await drained(sink, stop);
  }
}

async function drained(sink: TextSink, stop: AbortSignal): Promise<void> {
  let onDrain = () => {};
  const drain = new Promise<void>((resolve) => {
    onDrain = resolve;
    sink.once('drain', onDrain);
  });
  await untilAborted(drain, stop);
  sink.off('drain', onDrain);
}

async function release(iterator: AsyncIterator<string>, { clock, log }: Waits): Promise<void> {
  try {
    const returned = iterator.return?.();
    if (returned !== undefined && !(await settledWithin(clock, returned, releaseMaxMs))) {
      log.error({ event: 'body_not_released' });
    }
  } catch (cause) {
    log.error({ event: 'body_not_released' }, cause);
  }
}

const isEventStream = ({ headers }: GatewayResponse): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true;
