// The record of a call that was bound for a provider: who, what, how long, how much. No prompt, no answer, no secret.

import type { CallOutcome, CallRecord } from '../../../shared/accounting/call-records/index.ts';
import type { ErrorCode } from '../../../shared/errors/index.ts';
import { openBill } from '../../../shared/routing/billing/index.ts';
import { newEnding } from '../admission/new-ending.ts';
import { untilDone } from '../admission/until-done.ts';
import type { ChatDependencies } from '../dependencies.ts';
import { midStreamCodes } from '../mid-stream-codes.ts';
import type { Claimed, ClaimedExecution, ReadyAnswer } from '../stages.ts';
import { tellLog } from './tell-log.ts';

export const writeRecord = (deps: ChatDependencies, call: Claimed): Promise<void> =>
  write(deps, call, toRecord(call, deps.clock.nowMs()));

export type CachedReady = Extract<ReadyAnswer, { kind: 'cached' }>;

/** An answer from the cache cost nothing, and is counted among the calls of its model all the same. */
export function writeCachedRecord(deps: ChatDependencies, { call, owner, answer }: CachedReady): Promise<void> {
  const nothing = { keyHold: undefined, creditHold: undefined, otherHolds: [], ownsIdempotencyKey: false };
  const claimed = { ...call, ...nothing, owner, bill: openBill(), ending: newEnding() };
  const { provider, model } = answer;
  return write(deps, claimed, {
    ...toRecord(claimed, deps.clock.nowMs()),
    provider,
    modelServed: model,
    cacheHit: true,
  });
}

async function write({ records, clock }: ChatDependencies, { scope }: Claimed, record: CallRecord): Promise<void> {
  tellLog(scope.learnt, record);
  await untilDone(clock, () => records.write(record));
}

function toRecord(call: Claimed, nowMs: number): CallRecord {
  const { scope, request, workspace, keyItem, credential, attribution, ending, arrivedAtMs, bill } = call;
  const totalMs = nowMs - arrivedAtMs;
  const served = ending.errorCode === undefined ? ending.turn?.candidate : undefined;
  // The time of a stream behind its first output is the provider's and the reader's.
  const ownUntilMs = ending.tally === undefined ? nowMs : (ending.firstOutputAtMs ?? nowMs);
  return {
    workspace: workspace.id,
    executionId: call.owner,
    arrivedAtMs,
    keyPublicId: credential.publicId,
    keyName: String(keyItem.name),
    ...attribution,
    correlationId: scope.correlationId,
    ...scope.correlation,
    ...functionIds(call),
    modelAsked: request.model,
    modelServed: served?.model.id,
    provider: served?.provider.id,
    stream: request.stream,
    cacheHit: false,
    ...outcomeOf(call),
    attempts: ending.attempts,
    attemptCauses: ending.causes,
    ...bill.usage(),
    ...costOf(call),
    queuedMs: ending.queuedMs,
    firstOutputMs: ending.firstOutputAtMs === undefined ? undefined : ending.firstOutputAtMs - arrivedAtMs,
    totalMs,
    gatewayMs: Math.max(0, ownUntilMs - arrivedAtMs - ending.upstreamMs),
  };
}

/** The ids of a function call. */
const functionIds = (call: Claimed) =>
  'execution' in call
    ? (({ functionId, revisionId }) => ({ functionId, revisionId }))((call as ClaimedExecution).execution.revision)
    : {};

/** Whose money it was: what credit paid, or else what a key of the client's did. The records of credit add up to it. */
function costOf({ bill, ending: { turn } }: Claimed): Pick<CallRecord, 'isByok' | 'costPicoUsd'> {
  const owed = bill.totalOf('workspace');
  const isByok = turn !== undefined && turn.permit === undefined && owed === 0n;
  return { isByok, costPicoUsd: isByok ? bill.totalOf('client') : owed };
}

function outcomeOf({ scope, ending }: Claimed): { outcome: CallOutcome; cutCode?: ErrorCode } {
  const { errorCode, tally } = ending;
  // Nobody got the error that a call ends with when its client leaves.
  if (errorCode !== undefined) return { outcome: scope.clientGone.aborted ? 'client_gone' : errorCode };
  if (tally === undefined || tally.end === 'complete') return { outcome: 'ok' };
  if (tally.end === undefined || tally.end.kind === 'client_gone') return { outcome: 'client_gone' };
  return { outcome: 'cut', cutCode: midStreamCodes[tally.end.kind] };
}
