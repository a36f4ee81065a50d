// A provider's event stream as chunks. It ends well or throws StreamBroken: a stream that just stops is never a
// success, or clients would store half an answer (contract 4).
import { upstreamEventMaxBytes } from '../../foundation/constants/index.ts';
import { doneText, readEventTexts, readStreamChunk, type StreamChunk } from '../../protocol/wire/index.ts';
import { type AttemptFailure, classifyErrorObject } from './classify.ts';

export class StreamBroken extends Error {
  override readonly name = 'StreamBroken';
  readonly failure: AttemptFailure;
  constructor(failure: AttemptFailure) {
    super(failure.cause);
    this.failure = failure;
  }
}

/** The words of an error for the operator's log. */
export type DescribeText = (body: unknown) => string | undefined;

/**
 * Yields chunks in batches as they came off the wire and returns after the provider's end marker, or after a body that
 * ended with every choice finished. What came before a fault is yielded before the fault is thrown. An empty batch is a
 * comment or an event without text: no output, but a sign that the provider lives.
 */
export async function* readStream(
  body: AsyncIterable<Uint8Array>,
  describe: DescribeText = () => undefined,
): AsyncGenerator<StreamChunk[], void, undefined> {
  const finished = new Map<number, boolean>();
  for await (const texts of readEventTexts(body, upstreamEventMaxBytes)) {
    const batch: StreamChunk[] = [];
    let fault: AttemptFailure | undefined;
    let done = false;
    for (const text of texts) {
      if (text.trim() === doneText) done = true;
      // Some servers keep a connection alive with an event without text.
      else if (text.trim() !== '') fault = takeChunk(text, batch, finished, describe);
      if (done || fault !== undefined) break;
    }
    if (batch.length > 0 || (fault === undefined && !done)) yield batch;
    if (fault !== undefined) throw new StreamBroken(fault);
    if (done) return;
  }
  const complete = finished.size > 0 && [...finished.values()].every((isFinished) => isFinished);
  if (!complete) throw new StreamBroken({ kind: 'failed', cause: 'truncated_stream' });
}

/** Adds the chunk to the batch, or says what is wrong with it. */
function takeChunk(
  text: string,
  batch: StreamChunk[],
  finished: Map<number, boolean>,
  describe: DescribeText,
): AttemptFailure | undefined {
  const chunk = readStreamChunk(text);
  if (chunk === undefined) return { kind: 'failed', cause: 'unreadable_event' };
  if (chunk.facts.error !== undefined) {
    return { ...classifyErrorObject(chunk.head), providerText: describe(chunk.head) };
  }
  for (const { index, finished: isFinished } of chunk.facts.choices) {
    finished.set(index, isFinished || (finished.get(index) ?? false));
  }
  batch.push(chunk);
  return undefined;
}
