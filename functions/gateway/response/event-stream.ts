// Writes the stream that a client receives, which consists of the unchanged events, an error if the stream broke, and
// the end. The body never throws, because on Lambda an error inside a body kills the process.
import { servingApis, storedAnswerMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { awaitAll } from '../../../shared/foundation/parallel/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { BodyPart } from '../../../shared/protocol/http/index.ts';
import type { StreamSchemaCheck, StreamWriter } from '../../../shared/protocol/interfaces/index.ts';
import {
  type AnswerEvent,
  brokenStreamMessages,
  type EventDetails,
  laterReport,
  stoppedMessage,
  type Units,
  type UsageReport,
} from '../../../shared/protocol/wire/index.ts';
import { type Charge, unseenOutputTokens } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import { type AttemptFailure, midStreamCodeOf } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { answerStatus } from '../exit/exit.ts';
import type { OpenStream } from '../provider-call.ts';
import type { EndedCall, StreamEnd } from '../stages.ts';
import { chargedCost } from './answer-cost.ts';
import { type AnsweredCall, sourceOf } from './answered-call.ts';
import { cacheWriter, keepEvents } from './cacheable-events.ts';
import { withKeepAlive } from './keep-alive.ts';
import { openStoringAccountWriter } from './remember-storing-account.ts';
import { bytesTypeOf, streamHeadersOf } from './stream-type.ts';

export interface StreamedCall extends AnsweredCall {
  readonly stream: OpenStream;
  /** Checks the whole answer against its schema; undefined without a schema. */
  readonly schemaCheck: StreamSchemaCheck | undefined;
}

/** One stream that is being sent to the client. */
export class AnswerStream {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<BodyPart>;
  readonly #deps: GatewayDependencies;
  readonly #streamed: StreamedCall;
  readonly #writer: StreamWriter;
  /** True for a stream of bytes. If it breaks, the connection is cut. */
  readonly #isBytes: boolean;
  /** True if the answer is stored for replays. */
  readonly #isReplayable: boolean;
  readonly #parts: AsyncGenerator<BodyPart, void, undefined>;
  readonly #cacheable: ReturnType<typeof keepEvents>;
  readonly #storingAccount: ReturnType<typeof openStoringAccountWriter>;
  readonly #transcript = collectText();
  readonly #seen: SeenStream = nothingSeen();
  /** The last event, which is delayed until the answer is stored. */
  #lastEvent = '';
  #charge: Charge | undefined;

  constructor(deps: GatewayDependencies, streamed: StreamedCall) {
    const { call, provided, headers, stream } = streamed;
    const { planned, reservations } = call.admitted;
    const { request } = planned.effective;
    const bytesType = bytesTypeOf(stream.opening);
    this.#deps = deps;
    this.#streamed = streamed;
    this.#writer = request.openStreamWriter(planned.identified.parsed.scope.baseUrlRules);
    this.#isBytes = bytesType !== undefined;
    this.#isReplayable = planned.identified.parsed.idempotencyKey !== undefined;
    this.#cacheable = keepEvents(reservations.cache?.store !== undefined);
    this.#storingAccount = openStoringAccountWriter(deps, planned, provided);
    this.headers = { ...headers, ...streamHeadersOf(bytesType ?? request.streamForm?.contentType) };
    this.#parts = this.#relay();
    const next = withKeepAlive(deps.clock, this.#parts, this.#isBytes ? '' : keepAliveOf(streamed, this.#writer));
    // The iterator does not use the generator's `return`, because a reader that leaves must not end it.
    this.body = { [Symbol.asyncIterator]: () => ({ next, return: async () => ended }) };
  }

  /** Reads the rest after the client left, because the client pays for the tokens that were used. Never rejects. */
  async drain(): Promise<void> {
    for await (const _part of this.#parts);
  }

  errorEndText(why: 'failed' | 'timed_out'): string {
    return this.#writer.broken(why === 'failed' ? 'no_available_provider' : 'request_deadline_exceeded');
  }

  /** Describes how the stream ended. Called once, after the last byte. */
  ended(): Pick<EndedCall, 'stream' | 'writeCache'> {
    const { call, run, provided } = this.#streamed;
    const { end, schemaMismatch, model, finishReasons } = this.#seen;
    const charge = this.#charged();
    const { usage } = charge;
    const { startedAtMs } = provided.admitted;
    // Without `end` a fault of the gateway ended the relay, which is no information about the provider.
    const outcome = end ?? ({ kind: 'client_gone', cause: 'client_gone' } as const);
    const attempt = {
      ...provided.admitted,
      reachedVia: provided.reachedVia,
      outcome: outcome === 'complete' || outcome === 'schema_mismatch' ? ('ok' as const) : outcome,
      latencyMs: this.#deps.clock.nowMs() - startedAtMs,
      firstOutputMs: run.firstOutputAtMs === undefined ? undefined : run.firstOutputAtMs - startedAtMs,
      tokens: usage.promptTokens + usage.completionTokens,
      charge,
      schemaMismatch,
      details: { model, finishReasons },
    };
    const content = outcome === 'complete' ? this.#cacheable.content() : undefined;
    const writeCache = content && cacheWriter(this.#deps, call.admitted, provided.reachedVia, charge, () => content);
    return { stream: { end, attempt }, writeCache };
  }

  async *#relay(): AsyncGenerator<BodyPart, void, undefined> {
    const { stream, schemaCheck } = this.#streamed;
    try {
      const opening = this.#written(stream.opening);
      if (opening !== '') yield part(opening);
      for await (const { events, dropped = [], failure } of stream.rest) {
        for (const { details } of dropped) this.#count(details);
        const lines = this.#written(events);
        if (lines !== '') yield part(lines);
        if (failure === undefined) continue;
        yield await this.#endBroken(failure);
        return;
      }
      stream.finish();
      const mismatch = stream.isBlocked?.() === true ? undefined : await schemaCheck?.mismatch();
      if (mismatch !== undefined) {
        yield await this.#endMismatched(mismatch);
        return;
      }
      this.#seen.end = 'complete';
      const beforeEnd = this.#transcribed(this.#writer.beforeEnd(this.#seen.usage, () => this.#cost()));
      if (beforeEnd !== '') yield part(beforeEnd);
      await Promise.all([this.#store(), this.#settle()]);
    } catch (error) {
      yield await this.#endBroken(stream.failureOf(error));
      return;
    } finally {
      stream.abort();
    }
    yield end(this.#lastEvent + this.#writer.end);
  }

  #written(events: readonly AnswerEvent[]): string {
    let lines = '';
    for (const event of events) {
      this.#count(event.details);
      this.#storingAccount.add(event.details);
      this.#cacheable.add?.(event);
      const line = this.#writer.event(event);
      if (event.details.isLast) this.#lastEvent += line;
      else lines += line;
    }
    return this.#transcribed(lines);
  }

  #count(details: EventDetails): void {
    countEvent(this.#seen, details, this.#deps.clock);
  }

  /** Adds the lines to the text for replays, and returns them unchanged. */
  #transcribed(lines: string): string {
    if (this.#isReplayable) this.#transcript.add(lines);
    return lines;
  }

  #endBroken(failure: AttemptFailure): Promise<BodyPart> {
    this.#seen.end = failure;
    const message = failure.cause === 'stopped' ? stoppedMessage : undefined;
    return this.#released(() =>
      this.#isBytes ? { ...end(''), isCut: true } : end(this.#writer.broken(midStreamCodeOf[failure.kind], message)),
    );
  }

  #endMismatched(mismatch: string): Promise<BodyPart> {
    this.#seen.end = 'schema_mismatch';
    this.#seen.schemaMismatch = mismatch;
    const message = `${brokenStreamMessages.schema_validation_failed} It fails at ${mismatch}.`;
    return this.#released(() => end(this.#writer.broken('schema_validation_failed', message)));
  }

  /**
   * Sends the last part once the claims of the call are free, because its client may retry as soon as it gets that
   * part.
   */
  async #released(lastPart: () => BodyPart): Promise<BodyPart> {
    const released = this.#streamed.call.admitted.claims.release({ isRetryable: true, reachedProvider: true });
    await Promise.all([released?.catch(() => {}), this.#settle()]);
    return lastPart();
  }

  /** Stores the answer for replays before the client gets the end. A text that is too long is left out. */
  #store(): Promise<void> | undefined {
    const { call, provided } = this.#streamed;
    if (!this.#isReplayable) return undefined;
    this.#transcript.add(this.#lastEvent + this.#writer.end);
    const answer = { status: answerStatus, headers: this.headers, body: this.#transcript.text() };
    return call.admitted.claims.store(answer, sourceOf(provided));
  }

  /** Settles the call however the stream has ended. Never rejects. */
  async #settle(): Promise<void> {
    const { settleEarly } = this.#streamed.call;
    // The charge is computed before the slots are released.
    if (settleEarly !== undefined) this.#charged();
    await awaitAll([settleEarly?.(), this.#storingAccount.whenWritten()]);
  }

  #cost() {
    return chargedCost(this.#streamed, this.#charged(), this.#seen.usage);
  }

  #charged(): Charge {
    this.#charge ??= chargeStream(this.#streamed, this.#seen, this.#deps.clock.nowMs());
    return this.#charge;
  }
}

const ended = { done: true, value: undefined } as const;
const part = (text: string): BodyPart => ({ text, isEnd: false });
const end = (text: string): BodyPart => ({ text, isEnd: true });

/**
 * Returns the keep-alive of a silent stream; undefined stands for comments. A provider of the client's own interface
 * sends its own keep-alives.
 */
function keepAliveOf({ call, provided: { reachedVia } }: AnsweredCall, { ping }: StreamWriter): string | undefined {
  const { identified, effective } = call.admitted.planned;
  const isRelayed = reachedVia.format === servingApis[identified.parsed.clientInterface.id].native;
  return (isRelayed ? undefined : ping) ?? effective.request.streamForm?.keepAlive;
}

/** Collects the text to store. Drops the text once it is too long. */
function collectText() {
  let parts: string[] = [];
  let bytes = 0;
  return {
    add(lines: string) {
      bytes += Buffer.byteLength(lines);
      if (bytes > storedAnswerMaxBytes) parts = [];
      else parts.push(lines);
    },
    text: () => (bytes > storedAnswerMaxBytes ? undefined : parts.join('')),
  };
}

/** Observations of a stream while it was relayed. */
interface SeenStream {
  /** The last report of usage. */
  usage: UsageReport | undefined;
  outputBytes: number;
  /** Bytes after the last report, which the report does not include. */
  outputBytesAfterUsage: number;
  /** Bytes after the last report above zero, because some providers send zeros until the last event. */
  outputBytesAfterCount: number;
  /** Time at which the first output arrived. */
  outputAtMs: number | undefined;
  /** True if a report includes the output before it. */
  countsUnseen: boolean;
  /** Metadata of the answer from its events. */
  model: string | undefined;
  readonly finishReasons: string[];
  /** Counted outputs, such as images, that may have prices of their own. */
  units: Units;
  end: StreamEnd;
  /** The place and the rule at which the answer fails its schema. */
  schemaMismatch: string | undefined;
}

const nothingSeen = (): SeenStream => ({
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
});

function countEvent(seen: SeenStream, details: EventDetails, clock: Clock): void {
  const { outputBytes, usage: reported, model, finishReasons, units } = details;
  if (outputBytes > 0) seen.outputAtMs ??= clock.nowMs();
  seen.model ??= model;
  if (units?.images) seen.units = withImages(seen.units, units.images);
  if (finishReasons !== undefined) seen.finishReasons.push(...finishReasons);
  const later = reported === undefined ? seen.usage : laterReport(seen.usage, reported);
  /** Undefined if the event reported nothing new. */
  const usage = later === seen.usage ? undefined : later;
  const countsOutput = (usage?.tokens.output ?? 0) > 0;
  seen.outputBytes += outputBytes;
  seen.countsUnseen ||= countsOutput && seen.outputBytes > 0;
  seen.outputBytesAfterUsage = usage === undefined ? seen.outputBytesAfterUsage + outputBytes : 0;
  seen.outputBytesAfterCount = countsOutput ? 0 : seen.outputBytesAfterCount + outputBytes;
  seen.usage = usage ?? seen.usage;
}

const withImages = ({ images: former, ...units }: Units, images: NonNullable<Units['images']>): Units => ({
  ...units,
  images: { ...images, count: (former?.count ?? 0) + images.count },
});

function chargeStream({ call, provided: { admitted } }: AnsweredCall, seen: SeenStream, nowMs: number): Charge {
  const { candidate, startedAtMs } = admitted;
  // The last report of a stream that ended without an error is believed, even if it is zero.
  const isWhole = seen.end === 'complete' || seen.end === 'schema_mismatch';
  const bytesAfterUsage = isWhole ? seen.outputBytesAfterUsage : seen.outputBytesAfterCount;
  const units = { images: { count: 0 }, ...seen.units };
  const output = { outputBytes: seen.outputBytes, bytesAfterUsage, units, ...unseenOutput(seen, startedAtMs, nowMs) };
  const { planned, bill } = call.admitted;
  const payer = payerOf(planned.terms.byok, candidate);
  return bill.charge({ candidate, reported: seen.usage, output, payer, size: planned.effective.size });
}

/** Estimates output before the first event, because a provider whose call is abandoned does not report it. */
function unseenOutput({ end, countsUnseen, outputAtMs }: SeenStream, startedAtMs: number, nowMs: number) {
  const isLeft = typeof end === 'object' && end.cause === 'client_gone';
  return isLeft && !countsUnseen ? { unseenTokens: unseenOutputTokens((outputAtMs ?? nowMs) - startedAtMs) } : {};
}
