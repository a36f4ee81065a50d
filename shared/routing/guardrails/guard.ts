// Applies the guardrails of one call to its request and to its answer. This module is loaded with the first call that
// has guardrails, as a separate file, so it throws no error of this project.
import type { GuardrailDocument } from '../../configuration/catalogue/index.ts';
import { streamReadOnMaxMs } from '../../foundation/constants/index.ts';
import { type Clock, type Deadline, inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import {
  type BlockedEnd,
  type FoundText,
  type InterfaceGrammar,
  objectAt,
  parsedAt,
  rescanAnswer,
  withTexts,
} from '../../protocol/interfaces/index.ts';
import type { CallMemory } from '../../protocol/memory-budget/index.ts';
import {
  type AnswerEvent,
  type EventReader,
  type EventText,
  type JsonText,
  rewriteMembers,
} from '../../protocol/wire/index.ts';
import type { EventBatch } from '../providers/index.ts';
import {
  type CheckedTexts,
  checkTexts,
  type FailedCheck,
  type OpenedGuardrail,
  type TextChecks,
} from './check-texts.ts';
import { EventWindow, type EventWindowOptions, type NoEventMemory, type Stopped } from './event-window.ts';
import { type HttpGuardrailDependencies, httpGuardrail } from './http-guardrail.ts';

export interface GuardOptions extends Omit<TextChecks, 'guardrails'>, HttpGuardrailDependencies {
  readonly guardrails: readonly GuardrailDocument[];
  /** Grammar of the client's interface. */
  readonly grammar: InterfaceGrammar;
  readonly memory: CallMemory;
  /** Deadline of the answer, which is later than the deadline of the request if the answer is a stream. */
  readonly outputDeadline: Deadline;
}

/** The parts that a check has changed. */
interface MaskedText {
  readonly text: string;
  /** Paths of parts that were dropped. */
  readonly dropped: readonly string[];
}

export type GuardedRequest =
  /** `masked` is undefined if the request continues unchanged. */
  | { readonly kind: 'passed'; readonly masked: MaskedText | undefined }
  | Exclude<CheckedTexts, { readonly kind: 'passed' }>
  /** The input consists of tokens of a model, which no guardrail can read. */
  | { readonly kind: 'tokens'; readonly guardrail: string };

export interface Guard {
  readonly ids: readonly string[];
  checkRequest(json: JsonText): Promise<GuardedRequest>;
  /** Checks an answer. Rejects if there is no memory for the texts. */
  checkAnswer(json: JsonText): Promise<GuardedAnswer>;
  /** Returns the same stream if nothing is checked. `reader` is that of its interface, at its start. */
  checkStream(batches: AsyncIterator<EventBatch, void>, reading: StreamReading): AsyncIterator<EventBatch, void>;
}

export type { FailedCheck };

type StreamReading = Pick<GuardedStreamOptions, 'reader' | 'onBlocked' | 'onFailed'>;

type GuardedAnswer =
  /** `masked` is undefined if the answer stays unchanged. A blocked answer contains the guardrail's message. */
  { readonly kind: 'passed'; readonly masked: MaskedText | undefined; readonly isBlocked: boolean } | FailedCheck;

export async function openGuard({
  guardrails,
  grammar,
  memory,
  outputDeadline,
  ...more
}: GuardOptions): Promise<Guard> {
  const checks: TextChecks = { ...more, guardrails: await Promise.all(guardrails.map((one) => opened(one, more))) };

  async function checkRequest(json: JsonText): Promise<GuardedRequest> {
    const first = guardrails.find(({ on }) => on.includes('input'));
    if (first === undefined) return { kind: 'passed', masked: await withoutThinking(json, grammar, undefined) };
    if (grammar.hasTokens(json)) return { kind: 'tokens', guardrail: first.id };
    const found = await gather(grammar.textsOfRequest(json));
    const result = await checkTexts(checks, 'input', found);
    if (result.kind !== 'passed') return result;
    return { kind: 'passed', masked: await withoutThinking(json, grammar, withTexts(json, found, result.texts)) };
  }

  const outputChecks: TextChecks = { ...checks, deadline: outputDeadline };
  const writing = guardrails.filter(({ on }) => on.includes('output'));
  const { answers } = grammar;

  async function checkAnswer(json: JsonText): Promise<GuardedAnswer> {
    if (writing.length === 0 || answers === undefined) return { kind: 'passed', masked: undefined, isBlocked: false };
    const found = await gather(answers.answerTexts(json));
    const result = await checkTexts(outputChecks, 'output', found);
    if (result.kind === 'failed') return result;
    if (result.kind === 'passed') {
      const masked = withTexts(json, found, result.texts, answers.spellingFields);
      return { kind: 'passed', masked, isBlocked: false };
    }
    return { kind: 'passed', masked: { text: answers.blocked(json, result.message), dropped: [] }, isBlocked: true };
  }

  function checkStream(batches: AsyncIterator<EventBatch, void>, reading: StreamReading) {
    if (writing.length === 0 || answers === undefined) return batches;
    return guardStream(batches, {
      ...{ clock: more.clock, memory, answers, ...reading, end: answers.openBlockedEnd() },
      windowCharacters: Math.min(...writing.map(({ window_characters }) => window_characters)),
      check: (texts) => checkTexts(outputChecks, 'output', texts),
    });
  }

  return { ids: guardrails.map(({ id }) => id), checkRequest, checkAnswer, checkStream };
}

async function opened(
  document: GuardrailDocument,
  { clock, ...deps }: Omit<GuardOptions, 'guardrails' | 'grammar' | 'memory' | 'outputDeadline'>,
): Promise<OpenedGuardrail> {
  switch (document.kind) {
    case 'http':
      return { document, ask: httpGuardrail(deps, document) };
    case 'bedrock': {
      const { bedrockGuardrail } = await import('./bedrock-guardrail.ts');
      return { document, ask: bedrockGuardrail(clock, document) };
    }
    default: {
      const { textGuardrail } = await import('./text-guardrail.ts');
      return { document, ask: textGuardrail(document) };
    }
  }
}

/** Number of steps between two turns in which a walk finds no text. */
const turnMaxSteps = 8;

/** Collects the texts, in turns of the event loop that are measured by found texts and by visited values. */
export async function gather(texts: Iterable<FoundText | undefined>): Promise<FoundText[]> {
  const found: FoundText[] = [];
  let characters = 0;
  let steps = 0;
  for (const one of texts) {
    if (one === undefined) steps += 1;
    else {
      found.push(one);
      characters += one.text.length;
    }
    if (characters < inOneTurn.jsonCharacters && steps < turnMaxSteps) continue;
    await nextTurn();
    characters = 0;
    steps = 0;
  }
  return found;
}

/**
 * Disables thinking in a turn that needs thinking that a mask has removed from the conversation, now or in an earlier
 * answer.
 */
async function withoutThinking(
  json: JsonText,
  { thinkingToStop }: InterfaceGrammar,
  masked: MaskedText | undefined,
): Promise<MaskedText | undefined> {
  const body = masked === undefined || masked.dropped.length === 0 ? json : await rescanAnswer(masked.text);
  const field = thinkingToStop(body);
  if (field === undefined) return masked;
  const current = masked === undefined || body !== json ? body : await rescanAnswer(masked.text);
  return {
    text: rewriteMembers(current, new Map([[field, undefined]])),
    dropped: [...(masked?.dropped ?? []), field],
  };
}

// A stream whose texts are checked in windows. Each event leaves after its window has passed, in the original sequence.

type GuardedStreamOptions = EventWindowOptions & StoppedStreamOptions;

async function* guardStream(
  batches: AsyncIterator<EventBatch, void>,
  options: GuardedStreamOptions,
): AsyncGenerator<EventBatch, void, undefined> {
  const window = new EventWindow(options);
  for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
    const { events, failure } = next.value;
    for (const [at, event] of events.entries()) {
      const notHeld = await window.hold(event);
      const isEnd = at === events.length - 1 && failure !== undefined;
      if (notHeld === undefined && !isEnd && !event.details.isLast && !window.isFull()) continue;
      const released = notHeld ?? (await window.release(isEnd || event.details.isLast));
      if (!Array.isArray(released)) {
        const rest = events.slice(notHeld === undefined ? at + 1 : at);
        yield* endStoppedStream(released, { batches, ...window.drop(), rest, failure }, options);
        return;
      }
      if (released.length > 0) yield { events: released };
    }
    if (failure !== undefined) {
      const { start, dropped } = window.drop();
      yield { events: [], dropped: [...start, ...dropped], failure };
      return;
    }
  }
  const released = await window.release(true);
  if (Array.isArray(released)) yield { events: released };
  else yield* endStoppedStream(released, { batches, ...window.drop(), rest: [], failure: undefined }, options);
}

// The end of a stream that a guardrail stopped.

interface StoppedStreamOptions {
  readonly clock: Clock;
  readonly end: BlockedEnd;
  /** Reads the events that this stream writes. */
  readonly reader: EventReader;
  /** Called when a guardrail blocks the stream, with the events that it blocks. */
  readonly onBlocked: (dropped: readonly AnswerEvent[]) => void;
  /** Called when the stream ends because a check gave no answer, or because memory is missing. */
  readonly onFailed: (failed: FailedCheck | NoEventMemory) => void;
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

/** Yields the message at once, and the end when the provider is done, because its whole output is paid for. */
async function* endStoppedStream(
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
  const written = (some: readonly EventText[]): AnswerEvent[] =>
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

/** The usage of a stream that no client sees. */
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

/** Returns the usage in an event, as its provider wrote it. */
function usageIn(json: JsonText): unknown {
  const response = objectAt(json, 'response');
  return parsedAt(json, objectAt(json, 'usage', response));
}
