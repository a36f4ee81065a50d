// The stream a client sees: events unchanged, an error where it broke, one end, last.
// Its body never throws: on Lambda an error inside a body kills the process.
import { storedAnswerMaxBytes } from '../../../shared/foundation/constants/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { BodyPart } from '../../../shared/protocol/http/index.ts';
import type { StreamSchemaCheck, StreamWriter } from '../../../shared/protocol/interfaces/index.ts';
import type { CallMemory } from '../../../shared/protocol/memory-budget/index.ts';
import type { AnswerCost, AnswerEvent, EventDetails } from '../../../shared/protocol/wire/index.ts';
import {
  brokenStreamMessages,
  laterReport,
  stoppedMessage,
  type Units,
  type UsageReport,
} from '../../../shared/protocol/wire/index.ts';
import { type AttemptFailure, midStreamCodeOf } from '../../../shared/routing/providers/index.ts';
import type { OpenStream } from '../provider-call.ts';
import type { StreamEnd } from '../stages.ts';
import { withKeepAlive } from './keep-alive.ts';

interface RelayOptions {
  readonly clock: Clock;
  readonly writer: StreamWriter;
  /** Sent during silence; comments if absent. */
  readonly keepAlive?: string | undefined;
  readonly cost: () => AnswerCost;
  /** Where it breaks, the connection is cut. */
  readonly isBytes: boolean;
  /** Copies of each line that are kept until the end. Without memory for them they are dropped. */
  readonly copies: { readonly count: number; readonly memory: CallMemory; readonly drop: () => void };
  /** Called with every event of the provider. */
  readonly onEvent?: ((event: AnswerEvent) => void) | undefined;
  /**
   * Runs when the stream is complete, before its end: stores data that must be there before the client knows. Without a
   * transcript where it is too long to be stored.
   */
  readonly onComplete?: ((transcript: string | undefined) => Promise<void> | undefined) | undefined;
  /** Runs when the stream has broken, before the client knows. Never rejects. */
  readonly onBroken: () => Promise<void> | undefined;
  /** Runs beside them, however the stream has ended. Never rejects. */
  readonly onEnd: () => Promise<void>;
  /** Checks the whole answer against its schema, if there is one. */
  readonly schemaCheck: StreamSchemaCheck | undefined;
}

/** Observations of a stream while it was relayed. */
export interface RelayedStream {
  /** The last that was reported. */
  usage: UsageReport | undefined;
  outputBytes: number;
  /** Bytes after that report, which it does not include. */
  outputBytesAfterUsage: number;
  /** Bytes after the last report above zero: some providers send zeros until the last event. */
  outputBytesAfterCount: number;
  /** When the first of them came. */
  outputAtMs: number | undefined;
  /** Whether a report includes the output before it. */
  countsUnseen: boolean;
  /** Metadata of the answer from its events. */
  model: string | undefined;
  finishReasons: string[];
  /** Things that came and may have prices of their own. */
  units: Units;
  end: StreamEnd;
  /** Where and by which rule it fails its schema. */
  schemaMismatch: string | undefined;
}

interface StreamRelay {
  readonly body: AsyncIterable<BodyPart>;
  /** Observations so far; final when `readOn` has resolved. */
  readonly relayed: Readonly<RelayedStream>;
  /** Reads the rest after the client left, who pays for the tokens that were used. Never rejects. */
  readonly readOn: () => Promise<void>;
}

export function relayStream(stream: OpenStream, options: RelayOptions): StreamRelay {
  const relayed: RelayedStream = {
    usage: undefined,
    outputBytes: 0,
    outputBytesAfterUsage: 0,
    outputBytesAfterCount: 0,
    outputAtMs: undefined,
    countsUnseen: false,
    model: undefined,
    finishReasons: [],
    units: {},
    end: undefined,
    schemaMismatch: undefined,
  };
  const parts = relay(stream, relayed, options);
  const next = withKeepAlive(options.clock, parts, options.keepAlive);
  return {
    // Without `return` of the generator: a reader that leaves must not end it.
    body: { [Symbol.asyncIterator]: () => ({ next, return: async () => ended }) },
    relayed,
    async readOn() {
      for await (const _part of parts);
    },
  };
}

const ended = { done: true, value: undefined } as const;

async function* relay(
  stream: OpenStream,
  relayed: RelayedStream,
  { writer, clock, ...options }: RelayOptions,
): AsyncGenerator<BodyPart, void, undefined> {
  const transcript = collectText();
  const { copies } = options;
  let isCollecting = copies.count > 0;
  const send = async (lines: string): Promise<string> => {
    if (!isCollecting) return lines;
    try {
      await copies.memory.reserve(Buffer.byteLength(lines) * copies.count);
      if (options.onComplete !== undefined) transcript.add(lines);
    } catch {
      isCollecting = false;
      transcript.drop();
      copies.drop();
    }
    return lines;
  };
  /** Kept back until the answer is stored. */
  let lastEvent = '';
  const relayEvents = (events: readonly AnswerEvent[]): Promise<string> => {
    let lines = '';
    for (const event of events) {
      countEvent(relayed, event.details, clock);
      options.onEvent?.(event);
      const line = writer.event(event);
      if (event.details.isLast) lastEvent += line;
      else lines += line;
    }
    return send(lines);
  };
  const endBroken = async (failure: AttemptFailure): Promise<BodyPart> => {
    relayed.end = failure;
    await Promise.all([options.onBroken(), options.onEnd()]);
    const message = failure.cause === 'stopped' ? stoppedMessage : undefined;
    if (options.isBytes) return { ...end(''), isCut: true };
    return end(writer.broken(midStreamCodeOf[failure.kind], message));
  };
  try {
    const opening = await relayEvents(stream.opening);
    if (opening !== '') yield part(opening);
    for await (const { events, dropped = [], failure } of stream.rest) {
      for (const { details } of dropped) countEvent(relayed, details, clock);
      const lines = await relayEvents(events);
      if (lines !== '') yield part(lines);
      if (failure === undefined) continue;
      yield await endBroken(failure);
      return;
    }
    stream.finish();
    const mismatch = stream.isBlocked?.() === true ? undefined : await options.schemaCheck?.mismatch();
    if (mismatch !== undefined) {
      relayed.end = 'schema_mismatch';
      relayed.schemaMismatch = mismatch;
      await Promise.all([options.onBroken(), options.onEnd()]);
      const message = `${brokenStreamMessages.schema_validation_failed} It fails at ${mismatch}.`;
      yield end(writer.broken('schema_validation_failed', message));
      return;
    }
    relayed.end = 'complete';
    const beforeEnd = await send(writer.beforeEnd(relayed.usage, options.cost));
    if (beforeEnd !== '') yield part(beforeEnd);
    transcript.add(lastEvent + writer.end);
    await Promise.all([options.onComplete?.(transcript.text()), options.onEnd()]);
  } catch (error) {
    yield await endBroken(stream.failureOf(error));
    return;
  } finally {
    stream.abort();
  }
  yield end(lastEvent + writer.end);
}

const part = (text: string): BodyPart => ({ text, isEnd: false });
const end = (text: string): BodyPart => ({ text, isEnd: true });

/** Collects the text to store; of a longer one there is none. */
function collectText() {
  let parts: string[] = [];
  let bytes = 0;
  return {
    add(lines: string) {
      bytes += Buffer.byteLength(lines);
      if (bytes > storedAnswerMaxBytes) parts = [];
      else parts.push(lines);
    },
    drop() {
      bytes = Number.POSITIVE_INFINITY;
      parts = [];
    },
    text: () => (bytes > storedAnswerMaxBytes ? undefined : parts.join('')),
  };
}

const withImages = ({ images: former, ...units }: Units, images: NonNullable<Units['images']>): Units => ({
  ...units,
  images: { ...images, count: (former?.count ?? 0) + images.count },
});

function countEvent(relayed: RelayedStream, details: EventDetails, clock: Clock): void {
  const { outputBytes, usage: reported, model, finishReasons, units } = details;
  if (outputBytes > 0) relayed.outputAtMs ??= clock.nowMs();
  relayed.model ??= model;
  if (units?.images) relayed.units = withImages(relayed.units, units.images);
  if (finishReasons !== undefined) relayed.finishReasons.push(...finishReasons);
  const later = reported === undefined ? relayed.usage : laterReport(relayed.usage, reported);
  /** Undefined when nothing new was reported. */
  const usage = later === relayed.usage ? undefined : later;
  const countsOutput = (usage?.tokens.output ?? 0) > 0;
  relayed.outputBytes += outputBytes;
  relayed.countsUnseen ||= countsOutput && relayed.outputBytes > 0;
  relayed.outputBytesAfterUsage = usage === undefined ? relayed.outputBytesAfterUsage + outputBytes : 0;
  relayed.outputBytesAfterCount = countsOutput ? 0 : relayed.outputBytesAfterCount + outputBytes;
  relayed.usage = usage ?? relayed.usage;
}
