// The record of a call that may run, or that was answered from what is stored: who, what, how long, how much. No prompt,
// no answer, no secret.
import type { CallAttempt, CallOutcome, CallRecord } from '../../../shared/accounting/call-records/index.ts';
import { parseFunctionAlias } from '../../../shared/configuration/stored-functions/index.ts';
import { type ErrorCode, okStatus } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import { openBill } from '../../../shared/routing/billing/index.ts';
import type { Attempt } from '../../../shared/routing/provider-metrics/index.ts';
import { midStreamCodeOf } from '../../../shared/routing/providers/index.ts';
import { retryWrite } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { AdmittedCall, EndedCall, Execution, IdentifiedCall, ReadyAnswer } from '../stages.ts';
import { keepsProviderText, type PolicedCall } from './log-attempts.ts';
import { addRecordToLog } from './log-record.ts';

type RecordedCall = Omit<AdmittedCall, 'holdings' | 'names'> & PolicedCall & { readonly execution?: Execution };

export const writeRecord = (
  deps: ChatDependencies,
  call: RecordedCall,
  ended: EndedCall,
  deadline: Deadline,
): Promise<void> => write(deps, call, toRecord(call, ended, deps.clock.nowMs()), deadline);

/** An answer that exists already cost nothing, and is found like any other, under its own id. */
export function writeReadyRecord(deps: ChatDependencies, call: IdentifiedCall, ready: ReadyAnswer): Promise<void> {
  const recorded = { ...call, owner: call.scope.correlationId, bill: openBill() };
  const record = toRecord(recorded, notRun, deps.clock.nowMs());
  if (ready.kind === 'cached') {
    const { provider, model } = ready.answer;
    return write(deps, recorded, { ...record, provider, modelServed: model, cacheHit: true });
  }
  const { headers } = ready.result;
  const functionId = parseFunctionAlias(call.request.model)?.functionId;
  const modelServed = headers[headerNames.model];
  const { logContext } = call.scope;
  // Not the whole record: in the metrics its provider did nothing for this call.
  logContext.fields = { ...logContext.fields, function_id: functionId, 'gen_ai.response.model': modelServed };
  const replay = { ...record, functionId, modelServed, provider: headers[headerNames.provider], replayOf: ready.owner };
  return retryWrite(deps.clock, () => deps.records.write(replay));
}

const notRun: EndedCall = {
  run: {
    attempts: [],
    attemptCount: 0,
    queuedMs: 0,
    upstreamMs: 0,
    firstOutputAtMs: undefined,
    unusedPermit: undefined,
  },
  error: undefined,
  stream: undefined,
  writeCache: undefined,
};

async function write(
  { records, clock }: ChatDependencies,
  { scope }: RecordedCall,
  record: CallRecord,
  deadline?: Deadline,
): Promise<void> {
  addRecordToLog(scope.logContext, record);
  await retryWrite(clock, () => records.write(record), deadline === undefined ? {} : { deadline });
}

function toRecord(call: RecordedCall, ended: EndedCall, nowMs: number): CallRecord {
  const { scope, request, workspace, keyItem, credential, attribution, arrivedAtMs, bill, execution } = call;
  const { run, stream, error } = ended;
  const { attempts, firstOutputAtMs } = run;
  const served = error === undefined ? attempts.at(-1)?.candidate : undefined;
  // The time of a stream behind its first output is the provider's and the reader's.
  const ownUntilMs = stream === undefined ? nowMs : (firstOutputAtMs ?? nowMs);
  return {
    workspace: workspace.id,
    executionId: call.owner,
    arrivedAtMs,
    keyPublicId: credential.publicId,
    keyName: String(keyItem.name),
    ...attribution,
    user: typeof request.raw.user === 'string' ? request.raw.user : undefined,
    correlationId: scope.correlationId,
    ...scope.correlation,
    functionId: execution?.revision.functionId,
    revisionId: execution?.revision.revisionId,
    modelAsked: request.model,
    modelServed: served?.model.id,
    provider: served?.provider.id,
    stream: request.stream,
    cacheHit: false,
    ...outcomeOf(call, ended),
    attempts: run.attemptCount,
    attemptCauses: attempts.flatMap(({ outcome }) => (outcome === 'ok' ? [] : [outcome.cause])),
    errorMessage: error?.message,
    attemptLog: toAttemptLog(call, attempts),
    ...bill.usage(),
    ...costOf(call, ended),
    queuedMs: run.queuedMs,
    firstOutputMs: firstOutputAtMs === undefined ? undefined : firstOutputAtMs - arrivedAtMs,
    totalMs: nowMs - arrivedAtMs,
    gatewayMs: Math.max(0, ownUntilMs - arrivedAtMs - run.upstreamMs),
  };
}

function toAttemptLog(call: PolicedCall, attempts: readonly Attempt[]): CallAttempt[] {
  const hasSeveralModels = new Set(attempts.map(({ candidate }) => candidate.model.id)).size > 1;
  const keepsText = keepsProviderText(call);
  return attempts.map(({ candidate, outcome, latencyMs }) => ({
    provider: candidate.provider.id,
    ...(outcome === 'ok' ? { outcome, status: okStatus } : { outcome: outcome.cause, status: outcome.status }),
    ms: latencyMs,
    ...(hasSeveralModels ? { model: candidate.model.id } : {}),
    ...(keepsText && outcome !== 'ok' ? { providerText: outcome.providerText } : {}),
  }));
}

/** Whose money it was: what credit paid, or else what a key of the client's did. The records of credit add up to it. */
function costOf({ bill }: RecordedCall, { run: { attempts } }: EndedCall): Pick<CallRecord, 'isByok' | 'costPicoUsd'> {
  const owed = bill.totalOf('workspace');
  const last = attempts.at(-1);
  const isByok = last !== undefined && last.permit === undefined && owed === 0n;
  return { isByok, costPicoUsd: isByok ? bill.totalOf('client') : owed };
}

function outcomeOf(
  { scope }: RecordedCall,
  { error, stream }: EndedCall,
): { outcome: CallOutcome; cutCode?: ErrorCode } {
  // A client that left got neither an error nor a whole answer.
  if (scope.clientGone.aborted) return { outcome: 'client_gone' };
  if (error !== undefined) return { outcome: error.code };
  if (stream === undefined || stream.end === 'complete') return { outcome: 'ok' };
  if (stream.end === 'schema_mismatch') return { outcome: 'cut', cutCode: 'schema_validation_failed' };
  if (stream.end === undefined || stream.end.kind === 'client_gone') return { outcome: 'client_gone' };
  return { outcome: 'cut', cutCode: midStreamCodeOf[stream.end.kind] };
}
