// A provider's event stream as chunks. It ends well or throws StreamBroken: a stream that just stops is never a
// success, or clients would store half an answer.
import { upstreamEventMaxBytes } from '../../foundation/constants/index.ts';
import { doneText, readStreamChunk, type StreamChunk } from '../../protocol/interfaces/chat-completions/index.ts';
import { readEventTexts } from '../../protocol/wire/index.ts';
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

export interface StreamReading {
  readonly describe?: DescribeText;
  /** `n` of the request. */
  readonly choices?: number;
}

/**
 * Yields chunks in batches as they came off the wire and returns after the provider's end marker, or where the stream ends,
 * in whatever way, after every choice has finished. What came before a fault is yielded before the fault is thrown. An
 * empty batch is a comment or an event without text: no output, but a sign that the provider lives.
 */
export async function* readStream(
  body: AsyncIterable<Uint8Array>,
  { describe = () => undefined, choices = 1 }: StreamReading = {},
): AsyncGenerator<StreamChunk[], void, undefined> {
  const finished = new Map<number, boolean>();
  const isComplete = () => finished.size >= choices && [...finished.values()].every((isFinished) => isFinished);
  const batches = readBatches(body, finished, describe);
  while (true) {
    const next = await batches.next().catch((error: unknown) => {
      if (isComplete()) return { done: true, value: false } as const;
      throw error;
    });
    if (next.done !== true) {
      yield next.value;
      continue;
    }
    if (next.value || isComplete()) return;
    throw new StreamBroken({ kind: 'failed', cause: 'truncated_stream' });
  }
}

/** Returns whether the end marker came. */
async function* readBatches(
  body: AsyncIterable<Uint8Array>,
  finished: Map<number, boolean>,
  describe: DescribeText,
): AsyncGenerator<StreamChunk[], boolean, undefined> {
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
    if (done) return true;
  }
  return false;
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
    return { ...classifyErrorObject(chunk.facts.error), providerText: describe(chunk.facts.error) };
  }
  for (const { index, finished: isFinished } of chunk.facts.choices) {
    finished.set(index, isFinished || (finished.get(index) ?? false));
  }
  batch.push(chunk);
  return undefined;
}
