// The end of a stream that a guardrail stopped.
import { streamReadOnMaxMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type BlockedEnd, type BlockedEvent, objectAt, parsedAt } from '../../protocol/interfaces/index.ts';
import type { AnswerEvent, EventReader, JsonText } from '../../protocol/wire/index.ts';
import type { EventBatch } from '../providers/index.ts';
import type { FailedCheck } from './check-texts.ts';
import type { NotHeld, Stopped } from './event-window.ts';

export interface StoppedStreamOptions {
  readonly clock: Clock;
  readonly end: BlockedEnd;
  /** Reads the events that are written here. */
  readonly reader: EventReader;
  /** Called where a guardrail blocks the stream, with the events that it blocks. */
  readonly onBlocked: (dropped: readonly AnswerEvent[]) => void;
  /** Called where the stream ends for a check without an answer, or for want of memory. */
  readonly onFailed: (failed: FailedCheck | NotHeld) => void;
}

interface StoppedStream {
  readonly batches: AsyncIterator<EventBatch, void>;
  /** Events without a text, which may leave before a message. */
  readonly start: readonly AnswerEvent[];
  /** Events of the window that was stopped. */
  readonly dropped: readonly AnswerEvent[];
  /** Events that came in the same batch. */
  readonly rest: readonly AnswerEvent[];
  readonly failure: EventBatch['failure'];
}

/** The message at once, the end when the provider is done: it is paid for all of it. */
export async function* endStoppedStream(
  why: Stopped,
  stream: StoppedStream,
  { clock, end, reader, onBlocked, onFailed }: StoppedStreamOptions,
): AsyncGenerator<EventBatch, void, undefined> {
  if (why.kind !== 'blocked') {
    onFailed(why);
    const cause = why.kind === 'failed' ? 'guardrail_failed' : 'no_memory';
    const failure = { kind: 'failed', cause, isOurFault: true } as const;
    const { start, dropped, rest } = stream;
    yield { events: [], dropped: [...start, ...dropped, ...rest], failure: stream.failure ?? failure };
    return;
  }
  onBlocked([...stream.dropped, ...stream.rest]);
  const written = (some: readonly BlockedEvent[]): AnswerEvent[] =>
    some.flatMap((one) => {
      const reading = reader.read(one);
      return reading.kind === 'event' ? [reading.event] : [];
    });
  const message = written(end.message(why.message)).map((event) =>
    withDetails(event, { outputBytes: 0, units: undefined }),
  );
  yield { events: [...stream.start, ...message] };
  const { outputBytes, report, usage, images } = await readOn(stream, clock);
  const units = images && { images };
  const events = written(end.end(usage)).map((event) =>
    withDetails(event, { outputBytes: 0, usage: undefined, units: undefined }),
  );
  const last = events.pop();
  if (last !== undefined) yield { events: [...events, withDetails(last, { outputBytes, usage: report, units })] };
}

/** What was used of a stream that no client sees. */
interface ReadOn {
  outputBytes: number;
  report?: AnswerEvent['details']['usage'];
  usage?: unknown;
  images?: NonNullable<AnswerEvent['details']['units']>['images'];
}

async function readOn({ batches, dropped, rest, failure }: StoppedStream, clock: Clock) {
  const read: ReadOn = { outputBytes: 0 };
  const drop = (event: AnswerEvent) => {
    const images = event.details.units?.images;
    read.outputBytes += event.details.outputBytes;
    if (images !== undefined) read.images = { ...images, count: images.count + (read.images?.count ?? 0) };
    if (event.details.usage === undefined) return;
    read.report = event.details.usage;
    read.usage = usageIn(event.json);
  };
  for (const event of [...dropped, ...rest]) drop(event);
  const late = Promise.withResolvers<undefined>();
  const cancel = clock.after(streamReadOnMaxMs, () => late.resolve(undefined));
  for (let isOver = failure !== undefined; !isOver; ) {
    const next = await Promise.race([batches.next(), late.promise]);
    const batch = next === undefined || next.done === true ? undefined : next.value;
    for (const event of batch?.events ?? []) drop(event);
    isOver = batch === undefined || batch.failure !== undefined;
  }
  cancel();
  return read;
}

const withDetails = (event: AnswerEvent, more: Partial<AnswerEvent['details']>): AnswerEvent =>
  Object.create(event, { details: { value: { ...event.details, ...more }, enumerable: true } }) as AnswerEvent;

/** The usage in an event, as its provider wrote it. */
function usageIn(json: JsonText): unknown {
  const response = objectAt(json, 'response');
  return parsedAt(json, objectAt(json, 'usage', response));
}
