// A provider's event stream, read by the client's interface. It ends well or throws StreamBroken: a stream that just stops is never a
// success, or clients would store half an answer.
import type { AnswerEvent, EventReader } from '../../protocol/interfaces/index.ts';
import type { EventText } from '../../protocol/wire/index.ts';
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
 * Yields events in batches as they came off the wire and returns after the provider's end marker, or where the stream ends,
 * in whatever way, after everything was said. What came before a fault is yielded before the fault is thrown. An empty batch is
 * a comment or an event without text.
 */
export async function* readStream(
  events: AsyncIterable<EventText[]>,
  reader: EventReader,
  describe: DescribeText,
): AsyncGenerator<AnswerEvent[], void, undefined> {
  const batches = readBatches(events, reader, describe);
  while (true) {
    const next = await batches.next().catch((error: unknown) => {
      if (reader.isComplete()) return { done: true, value: false } as const;
      throw error;
    });
    if (next.done !== true) {
      yield next.value;
      continue;
    }
    if (next.value || reader.isComplete()) return;
    throw new StreamBroken({ kind: 'failed', cause: 'truncated_stream' });
  }
}

/** Returns whether the end came. */
async function* readBatches(
  events: AsyncIterable<EventText[]>,
  reader: EventReader,
  describe: DescribeText,
): AsyncGenerator<AnswerEvent[], boolean, undefined> {
  for await (const texts of events) {
    const batch: AnswerEvent[] = [];
    let fault: AttemptFailure | undefined;
    let done = false;
    for (const event of texts) {
      // Some servers keep a connection alive with an event without text.
      if (event.text.trim() === '') continue;
      const reading = reader.read(event);
      if (reading.kind === 'event') batch.push(reading.event);
      if (reading.kind === 'unreadable') fault = { kind: 'failed', cause: 'unreadable_event' };
      if (reading.kind === 'error') {
        fault = { ...classifyErrorObject(reading.error), providerText: describe(reading.error) };
      }
      done = reading.kind === 'end' || (reading.kind === 'event' && reading.event.facts.isLast);
      if (done || fault !== undefined) break;
    }
    if (batch.length > 0 || (fault === undefined && !done)) yield batch;
    if (fault !== undefined) throw new StreamBroken(fault);
    if (done) return true;
  }
  return false;
}
