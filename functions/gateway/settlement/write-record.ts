// Writes the record of a call that may run, or that was answered from storage. The record shows who called what, for
// how long and at what cost. The record has no prompt, no answer and no secret.
import {
  type CallAttempt,
  type CallOutcome,
  type CallRecord,
  type CallShare,
  type ContentPlace,
  partsOfGateway,
  type TimedPart,
} from '../../../shared/accounting/call-records/index.ts';
import type { StoredResult } from '../../../shared/accounting/idempotency/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { parseFunctionAlias } from '../../../shared/configuration/stored-functions/index.ts';
import { type ErrorCode, okStatus } from '../../../shared/errors/index.ts';
import { type Deadline, startDeadline } from '../../../shared/foundation/time/index.ts';
import type { ClientRequest } from '../../../shared/protocol/interfaces/index.ts';
import { type Bill, type Payer, recordedUsage } from '../../../shared/routing/billing/index.ts';
import type { Attempt } from '../../../shared/routing/provider-metrics/index.ts';
import { midStreamCodeOf } from '../../../shared/routing/providers/index.ts';
import { type Item, retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type {
  AdmittedCall,
  CallContent,
  EndedCall,
  ExistingAnswer,
  IdentifiedCall,
  ParsedCall,
  ProviderTerms,
} from '../stages.ts';
import { callDetails, requestFields } from './call-details.ts';
import { credentialOf, keepsProviderText } from './log-attempts.ts';
import { requestRecord } from './request-record.ts';
import type { CallRecordWrite } from './settle-holds.ts';

/** Times at which the stages of the call ended. */
interface CallTimes {
  readonly admittedAtMs: number;
  /** Time at which the last byte of the answer was sent. */
  readonly settlingAtMs: number;
}

interface RecordWriting {
  readonly deadline: Deadline;
  /** Resolves once the bodies are written, because the record shows whether they are stored. */
  readonly content: Promise<ContentPlace | undefined> | undefined;
  /**
   * Resolves once the call is charged. If the process dies before, or the charge fails for good, there is no record of
   * an amount that was not charged.
   */
  readonly charged: Promise<unknown>;
}

interface OpenRecord extends CallRecordWrite {
  /**
   * Writes the record after the work that the record describes. If the settlement's transaction has written the record,
   * a second write only adds that bodies are stored.
   */
  writeBehind(writing: RecordWriting): Promise<void> | undefined;
}

export function openRecord(
  deps: GatewayDependencies,
  call: AdmittedCall,
  ended: EndedCall,
  times: CallTimes,
): OpenRecord {
  const { parsed, workspace } = call.planned.identified;
  const timeLine = () => timeLineOf(parsed, ended.run.attempts, times, deps.clock.nowMs());
  return {
    write(transaction) {
      const record = toRecord(deps, call, ended, timeLine());
      describe(parsed, record);
      return deps.records.write(record, transaction);
    },
    isWritten: async () => (await deps.records.find(workspace.id, call.owner)) !== undefined,
    writeBehind: (writing) =>
      deps.store.transact !== undefined && writing.content === undefined ? undefined : writeWhole(writing),
  };

  async function writeWhole({ deadline, content, charged }: RecordWriting): Promise<void> {
    const record = toRecord(deps, call, ended, timeLine());
    const contentLog = await content;
    const isCharged = await charged.then(
      () => true,
      () => false,
    );
    const whole = { ...record, timeLine: timeLine(), content: contentLog };
    if (isCharged) await write(deps, parsed, whole, deadline);
    else describe(parsed, whole);
  }
}

/** Maximum wait for the bodies, half of the time that an answer from the cache has for its settlement. */
const readyBudgetMs = 1_500;

/** The parts of an existing answer that its record shows. They do not refer to the answer's text. */
interface RecordedAnswer {
  readonly request: ClientRequest;
  readonly provider: string | undefined;
  readonly modelServed: string | undefined;
  /** The call that got a replayed answer first; undefined for an answer from the cache. */
  readonly replayOf: string | undefined;
}

export const recordedAnswer = ({ parsed }: IdentifiedCall, existing: ExistingAnswer): RecordedAnswer =>
  existing.kind === 'cached'
    ? { ...namesIn(existing.answer), request: existing.call.effective.request, replayOf: undefined }
    : { ...namesIn(existing.result), request: parsed.clientBody.request, replayOf: existing.owner };

const namesIn = ({ provider, model }: Pick<StoredResult, 'provider' | 'model'>) => ({ provider, modelServed: model });

interface ExistingRecordWriting extends RecordedAnswer {
  readonly key: Item;
  /** The content log of an answer from the cache. */
  readonly content: CallContent | undefined;
}

/**
 * Records an answer that existed already. The answer cost nothing, and its record is found under its own id like any
 * other record.
 */
export async function writeExistingRecord(
  deps: GatewayDependencies,
  { parsed }: IdentifiedCall,
  { request, provider, modelServed, replayOf, key, content }: ExistingRecordWriting,
): Promise<void> {
  const record = {
    ...requestRecord(parsed, key, request, deps.clock.nowMs()),
    provider,
    modelServed,
    functionId: parseFunctionAlias(request.model)?.functionId,
  };
  if (replayOf === undefined) {
    const contentLog = content && (await content.write(startDeadline(deps.clock, deps.clock.nowMs(), readyBudgetMs)));
    return write(deps, parsed, { ...record, cacheHit: true, content: contentLog });
  }
  // The fields are not the whole record, because in the metrics its provider did nothing for this call.
  const fields = {
    ...requestFields(record.modelAsked, record.stream),
    function_id: record.functionId,
    'gen_ai.response.model': modelServed,
    idempotent_replayed: true,
  };
  parsed.scope.details.call = { tags: record.tags, fields };
  return retryWrite(deps.clock, () => deps.records.write({ ...record, replayOf }));
}

async function write(
  { records, clock }: GatewayDependencies,
  call: ParsedCall,
  record: CallRecord,
  deadline?: Deadline,
): Promise<void> {
  describe(call, record);
  await retryWrite(clock, () => records.write(record), deadline === undefined ? {} : { deadline });
}

/** Adds the record's fields to the log line and to the metrics of the call. */
function describe({ scope, clientInterface }: ParsedCall, record: CallRecord): void {
  scope.details.call = callDetails(record, clientInterface.telemetryOperation);
}

function toRecord(
  deps: GatewayDependencies,
  call: AdmittedCall,
  ended: EndedCall,
  timeLine: readonly TimedPart[],
): CallRecord {
  const nowMs = deps.clock.nowMs();
  const { planned, key, owner, bill } = call;
  const { identified, effective, terms } = planned;
  const { parsed } = identified;
  const { request } = effective;
  const revision = 'execution' in planned ? planned.execution.revision : undefined;
  const { run, stream, error } = ended;
  const { attempts, firstOutputAtMs } = run;
  const candidate = error === undefined ? attempts.at(-1)?.candidate : undefined;
  const payer = recordedPayer(bill, ended);
  // For a stream, the time after its first output belongs to the provider and the reader.
  const ownUntilMs = stream === undefined ? nowMs : (firstOutputAtMs ?? nowMs);
  return {
    ...requestRecord(parsed, key, request, nowMs),
    executionId: owner,
    format: attempts.at(-1)?.reachedVia?.format,
    leftOut: attempts.at(-1)?.reachedVia?.leftOut,
    functionId: revision?.functionId,
    revisionId: revision?.revisionId,
    modelServed: candidate?.model.id,
    provider: candidate?.provider.id,
    ...outcomeOf(parsed, ended),
    attempts: run.attemptCount,
    attemptCauses: attempts.flatMap(({ outcome }) => (outcome === 'ok' ? [] : [outcome.cause])),
    errorMessage: keepsProviderText(terms) ? error?.message : error?.ownMessage,
    attemptLog: toAttemptLog(terms, attempts, candidate?.model.id ?? request.model),
    ...recordedUsage(bill),
    reasoningTokens: reasoningTokensOf(bill),
    isByok: payer === 'client',
    costPicoUsd: bill.totalOf(payer),
    otherShares: otherSharesOf(bill, candidate, payer),
    queuedMs: run.queuedMs,
    firstOutputMs: firstOutputAtMs === undefined ? undefined : firstOutputAtMs - parsed.arrivedAtMs,
    gatewayMs: Math.max(0, ownUntilMs - parsed.arrivedAtMs - run.upstreamMs),
    timeLine,
  };
}

/** Returns the parts of the call in the order of the record's attempts. */
function timeLineOf(
  { arrivedAtMs, scope }: ParsedCall,
  attempts: readonly Attempt[],
  { admittedAtMs, settlingAtMs }: CallTimes,
  nowMs: number,
): readonly TimedPart[] {
  const attemptParts = attempts.map(
    ({ startedAtMs, latencyMs }, at): TimedPart => ({
      part: 'attempt',
      at,
      startMs: startedAtMs - arrivedAtMs,
      ms: latencyMs,
    }),
  );
  return [
    ...partsOfGateway(arrivedAtMs, admittedAtMs - arrivedAtMs, scope.details.guardrailChecks),
    ...attemptParts,
    { part: 'settlement', startMs: settlingAtMs - arrivedAtMs, ms: nowMs - settlingAtMs },
  ];
}

const reasoningTokensOf = ({ charges }: Bill): number =>
  charges.reduce(
    (sum, { usage, reported }) => sum + Math.min(reported?.tokens.reasoning ?? 0, usage.completionTokens),
    0,
  );

/** The model is omitted if all attempts were at `model`. */
function toAttemptLog(terms: ProviderTerms, attempts: readonly Attempt[], model: string): CallAttempt[] {
  const hasOtherModels = attempts.some(({ candidate }) => candidate.model.id !== model);
  const keepsText = keepsProviderText(terms);
  return attempts.map(({ candidate, outcome, latencyMs, schemaMismatch }) => ({
    provider: candidate.provider.id,
    credential: credentialOf(terms, candidate),
    ...(outcome === 'ok' ? { outcome, status: okStatus } : { outcome: outcome.cause, status: outcome.status }),
    ms: latencyMs,
    ...(schemaMismatch === undefined ? {} : { schemaMismatch }),
    ...(hasOtherModels ? { model: candidate.model.id } : {}),
    ...(outcome === 'ok' ? {} : { reason: outcome.connectionFault }),
    ...(keepsText && outcome !== 'ok' ? { providerText: outcome.providerText?.forOperator } : {}),
  }));
}

/**
 * Returns who paid: 'client' if only the client's own provider key paid. The records of payer 'workspace' add up to the
 * credit spent.
 */
function recordedPayer(bill: Bill, { run: { attempts } }: EndedCall): Payer {
  const last = attempts.at(-1);
  const isByok = last !== undefined && last.permit === undefined && bill.totalOf('workspace') === 0n;
  return isByok ? 'client' : 'workspace';
}

function outcomeOf({ scope }: ParsedCall, { error, stream }: EndedCall): { outcome: CallOutcome; cutCode?: ErrorCode } {
  if (scope.clientGone.aborted) return { outcome: 'client_gone' };
  if (error !== undefined) return { outcome: error.code };
  if (stream === undefined || stream.end === 'complete') return { outcome: 'ok' };
  if (stream.end === 'schema_mismatch') return { outcome: 'cut', cutCode: 'schema_validation_failed' };
  const isStopped = stream.end?.cause === 'stopped';
  if (stream.end === undefined || (stream.end.kind === 'client_gone' && !isStopped)) return { outcome: 'client_gone' };
  return { outcome: 'cut', cutCode: midStreamCodeOf[stream.end.kind] };
}

/**
 * Returns the cost of models other than the model that answered; undefined without such a cost. `payer` paid the call's
 * cost.
 */
function otherSharesOf(
  { charges }: Bill,
  lastCandidate: Candidate | undefined,
  payer: Payer,
): readonly CallShare[] | undefined {
  const shares = new Map<string, CallShare>();
  for (const { candidate, usage, cost, payer: paidBy } of charges) {
    const [model, provider] = [candidate.model.id, candidate.provider.id];
    if (model === lastCandidate?.model.id && provider === lastCandidate.provider.id) continue;
    const name = `${provider} ${model}`;
    const former = shares.get(name);
    shares.set(name, {
      model,
      provider,
      promptTokens: usage.promptTokens + (former?.promptTokens ?? 0),
      cachedTokens: usage.cachedTokens + (former?.cachedTokens ?? 0),
      completionTokens: usage.completionTokens + (former?.completionTokens ?? 0),
      costPicoUsd: (paidBy === payer ? cost.total : 0n) + (former?.costPicoUsd ?? 0n),
    });
  }
  return shares.size === 0 ? undefined : [...shares.values()];
}
