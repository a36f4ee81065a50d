// A provider's event stream, read by the client's interface. It ends well or throws StreamBroken: a stream that just stops is never a
// success, or clients would store half an answer.
import type { AnswerEvent, EventReader } from '../../protocol/interfaces/index.ts';
import type { EventText } from '../../protocol/wire/index.ts';
import { type AttemptFailure, classifyErrorObject } from './classify.ts';
import type { ProviderText } from './provider-text.ts';

export class StreamBroken extends Error {
  override readonly name = 'StreamBroken';
  readonly failure: AttemptFailure;
  constructor(failure: AttemptFailure) {
    super(failure.cause);
    this.failure = failure;
  }
}

/** The words of an error. */
export type DescribeText = (body: unknown) => ProviderText | undefined;

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
  try {
    for await (const texts of events) {
      const { batch, fault, isEnd } = readBatch(texts, reader, describe);
      if (batch.length > 0 || (fault === undefined && !isEnd)) yield batch;
      if (fault !== undefined) throw new StreamBroken(fault);
      if (isEnd) return;
    }
  } catch (error) {
    if (!reader.isComplete()) throw error;
  }
  if (!reader.isComplete()) throw new StreamBroken({ kind: 'failed', cause: 'truncated_stream' });
}

interface Batch {
  readonly batch: AnswerEvent[];
  readonly fault: AttemptFailure | undefined;
  /** The end marker came. */
  readonly isEnd: boolean;
}

/** Events up to the first that ends the stream or breaks it. */
function readBatch(texts: readonly EventText[], reader: EventReader, describe: DescribeText): Batch {
  const batch: AnswerEvent[] = [];
  for (const event of texts) {
    // Some servers keep a connection alive with an event without text.
    if (event.text.trim() === '') continue;
    const reading = reader.read(event);
    if (reading.kind === 'end') return { batch, fault: undefined, isEnd: true };
    if (reading.kind === 'unreadable') {
      return { batch, fault: { kind: 'failed', cause: 'unreadable_event' }, isEnd: false };
    }
    if (reading.kind === 'error') {
      const fault = { ...classifyErrorObject(reading.error), providerText: describe(reading.error) };
      return { batch, fault, isEnd: false };
    }
    if (reading.kind === 'event') {
      batch.push(reading.event);
      if (reading.event.facts.isLast) return { batch, fault: undefined, isEnd: true };
    }
  }
  return { batch, fault: undefined, isEnd: false };
}
