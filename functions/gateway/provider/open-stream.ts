// Delays a stream until its first real output. Until then its failure is an ordinary failure, and the next candidate
// may answer. The status 200 is sent to the client only with the stream that this file returns.
import { heldBackMaxBytes, upstreamEventMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { AnswerNotDecoded } from '../../../shared/foundation/content-encoding/index.ts';
import { ConnectionBroken, connectionFaultOf, ProxyFailed } from '../../../shared/foundation/outgoing/index.ts';
import { type Clock, sleep } from '../../../shared/foundation/time/index.ts';
import { AnswerNotKept, type AnswerReservation } from '../../../shared/protocol/memory-budget/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/wire/index.ts';
import { unseenOutputTokens } from '../../../shared/routing/billing/index.ts';
import type { EventStream } from '../../../shared/routing/formats/index.ts';
import type { AttemptFailure, EventBatch, NoAnswer, Watch } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { OpenStream } from '../provider-call.ts';
import { type ProviderConnection, unkeptAnswer } from './create-send.ts';

/** Opens the stream. Returns a failure if it broke, or ended, before its first output. */
export async function openStream(
  { clock, callsUnderWay }: Pick<GatewayDependencies, 'clock' | 'callsUnderWay'>,
  { batches, drain }: EventStream,
  { watch, silence, memory }: Pick<ProviderConnection, 'watch' | 'silence' | 'memory'>,
): Promise<OpenStream | NoAnswer> {
  const opening = await readOpening(batches, memory);
  if ('failure' in opening) return { kind: 'failure', failure: opening.failure };
  memory.release();
  silence.outputCame();
  const isAnswering = opening.events.some(isAnswer);
  if (isAnswering) silence.answerCame();
  const rest = isAnswering ? batches : noticeAnswer(batches, silence.answerCame);
  return {
    opening: opening.events,
    rest: gatherBatches(rest, clock, callsUnderWay.isBusy),
    // The end marker has arrived, but the end of the body has not. A socket that is read to its end serves the next
    // call.
    finish: drain,
    failureOf: (error) => readBrokenStream(error, watch),
    abort: watch.abort,
  };
}

const isAnswer = ({ details }: AnswerEvent): boolean => details.hasOutput && details.isOnlyThinking !== true;

async function* noticeAnswer(
  batches: EventStream['batches'],
  onAnswer: () => void,
): AsyncGenerator<EventBatch, void, undefined> {
  let isAnswering = false;
  for await (const batch of batches) {
    if (!isAnswering && batch.events.some(isAnswer)) {
      isAnswering = true;
      onAnswer();
    }
    yield batch;
  }
}

async function readOpening(
  batches: AsyncIterator<EventBatch, void>,
  memory: AnswerReservation,
): Promise<{ readonly events: readonly AnswerEvent[] } | { readonly failure: AttemptFailure }> {
  const held: AnswerEvent[] = [];
  let heldBytes = 0;
  while (heldBytes <= heldBackMaxBytes) {
    const next = await batches.next();
    if (next.done === true) return { failure: { kind: 'failed', cause: 'no_output' } };
    const { events, failure } = next.value;
    if (failure !== undefined) return { failure };
    held.push(...events);
    if (events.some(({ details }) => details.hasOutput)) return { events: held };
    heldBytes += events.reduce((sum, { text }) => sum + text.length, 0);
    await memory.hold(heldBytes);
  }
  return { failure: { kind: 'failed', cause: 'endless_preamble' } };
}

/** Turns any error of a connection to a provider into a failure. */
function readBrokenStream(error: unknown, watch: Watch): AttemptFailure {
  const endedBy = watch.endedBy();
  // A workflow step that is no longer needed ends like a call whose client has left.
  if (endedBy === 'client_gone' || endedBy === 'stopped') return { kind: 'client_gone', cause: endedBy };
  // Every other silence has the same `cause`, because the error code of the call shows the exceeded limit.
  if (endedBy !== undefined) return { kind: endedBy === 'deadline' ? endedBy : 'failed', cause: 'timeout' };
  if (error instanceof AnswerNotKept) return { kind: 'failed', cause: 'no_memory', isOurFault: true };
  if (!(error instanceof RangeError)) return brokenConnection(error);
  return {
    kind: 'failed',
    cause: 'event_too_large',
    unusedAnswer: { usage: undefined, outputBytes: upstreamEventMaxBytes },
  };
}

/**
 * Describes a broken connection. The `cause` is a special code if a proxy rejects the call, or if the answer cannot be
 * decompressed.
 */
function brokenConnection(error: unknown): AttemptFailure {
  const fault = error instanceof ConnectionBroken ? error.cause : error;
  if (fault instanceof AnswerNotDecoded) return { kind: 'failed', cause: fault.code };
  const cause = fault instanceof ProxyFailed ? fault.code : 'connection';
  return { kind: 'failed', cause, connectionFault: connectionFaultOf(fault) };
}

/** Reads why a call broke before its output. A provider that had accepted the call charges for its work. */
export function readBrokenCall(
  error: unknown,
  { watch, isAccepted, wasDead }: ProviderConnection,
  ranMs: number,
): AttemptFailure {
  if (error instanceof AnswerNotKept) return unkeptAnswer(error);
  const failure = readBrokenStream(error, watch);
  if (wasDead) return { ...failure, wasDead };
  if (failure.cause !== 'client_gone' || !isAccepted) return failure;
  return { ...failure, unusedAnswer: { usage: undefined, outputBytes: 0, unseenTokens: unseenOutputTokens(ranMs) } };
}

/** The duration of a frame on the fastest screens. */
const gatherMs = 4;

/**
 * Yields the same batches. While `isBusy` is true, no batch comes sooner than `gatherMs` after the previous batch. A
 * reader that leaves ends both generators.
 */
export async function* gatherBatches(
  batches: AsyncGenerator<EventBatch, void, undefined>,
  clock: Clock,
  isBusy: () => boolean,
): AsyncGenerator<EventBatch, void, undefined> {
  for await (const batch of batches) {
    const cameAtMs = clock.nowMs();
    yield batch;
    const leftMs = cameAtMs + gatherMs - clock.nowMs();
    if (leftMs > 0 && isBusy()) await sleep(clock, leftMs);
  }
}
