// Reserves the names of a call, which are its Idempotency-Key and its span id, and ends these reservations with the
// call. A complete answer is stored under the key. Every failure releases the key, so that a retry may use it. A span
// is free again only after a failure that a client may retry.
import type { StoredResult } from '../../../shared/accounting/idempotency/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import { answerBytes, type Copies, textBytesInMemory } from '../../../shared/protocol/memory-budget/index.ts';
import type { PolicyOptions } from '../../../shared/protocol/wire/index.ts';
import { retryWrite, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AnswerSource, CallClaims, ClaimsEnd, IdentifiedCall, StoredAnswer } from '../stages.ts';
import { guardrailIdsOf } from './guardrails-of-call.ts';
import { type Release, type Reservation, type ReservationResult, refusalResult } from './reservation.ts';

/** Most calls end within seconds, so a longer wait would only delay the retry. */
const retryAfterMaxSeconds = 2;

const notStored =
  'The call with this Idempotency-Key is done; its answer could not be stored. Nothing was run or charged again.';

const unwanted =
  'The workspace stores no answers under zdr (idempotency.zdr: refuse): send the call without an Idempotency-Key, or without zdr.';

const unchecked = 'The stored answer of this Idempotency-Key was not checked by each guardrail of this call.';

export interface NamesReservation {
  readonly owner: string;
  /** Policy of workspace, preset and request together. */
  readonly policy: PolicyOptions;
}

/**
 * Reserves the key. The call then runs, is a replay, conflicts with another body, or is refused while the first call
 * still runs.
 */
export function reserveIdempotencyKey(
  { idempotency, clock }: GatewayDependencies,
  call: IdentifiedCall,
  { owner, policy }: NamesReservation,
): Reservation | undefined {
  const { parsed, workspace } = call;
  const { idempotencyKey: key, scope } = parsed;
  if (key === undefined) return undefined;
  if (workspace.idempotency?.zdr === 'refuse' && policy.zdr === true) {
    const refusal = refusalResult('idempotency', fail('invalid_request', { message: unwanted }));
    return { rank: 'idempotency', reserve: async () => refusal };
  }
  const keyOwner = { workspace: workspace.id, key, owner };
  const release = () => idempotency.release(keyOwner);
  async function reserve(): Promise<ReservationResult> {
    const nowMs = clock.nowMs();
    const claimant = { fingerprint: parsed.fingerprint(), nowMs, leaseUntilMs: parsed.leaseUntilMs };
    const allocation = scope.memory.openAnswer();
    const outcome = await idempotency.claim({ ...keyOwner, ...claimant }, { allocation });
    switch (outcome.kind) {
      case 'claimed':
        return { release };
      case 'conflict':
        return refusalResult('idempotency', fail('idempotency_conflict'));
      case 'running': {
        // The wait ends no later than the lease. Then a retry takes over.
        const leaseSeconds = Math.ceil((outcome.leaseUntilMs - nowMs) / 1_000);
        const retryAfterSeconds = Math.min(retryAfterMaxSeconds, leaseSeconds);
        return refusalResult('idempotency', fail('execution_in_progress', { retryAfterSeconds }));
      }
      case 'done_unstored':
        return refusalResult('idempotency', fail('idempotency_conflict', { message: notStored }));
      case 'done':
        if (!wasCheckedFor(call, outcome.result)) {
          return refusalResult('idempotency', fail('idempotency_conflict', { message: unchecked }));
        }
        return { resolution: { rank: 'idempotency', existingAnswer: { ...outcome, kind: 'replay', allocation } } };
    }
  }
  return { rank: 'idempotency', reserve, releaseUncertain: release, mustReleaseBeforeAnswer: true };
}

/**
 * True if all guardrails of this call checked the answer. The key may have other guardrails than the first call's key.
 */
const wasCheckedFor = (call: IdentifiedCall, { guardrails = [] }: Pick<StoredResult, 'guardrails'>): boolean =>
  guardrailIdsOf(call).every((id) => guardrails.includes(id));

/** Reserves the span id, which is used once per workspace. A retry may bring its own span id again. */
export function reserveSpan(
  { spans, clock }: GatewayDependencies,
  { parsed, workspace }: IdentifiedCall,
  owner: string,
): Reservation | undefined {
  const { spanId } = parsed.scope.correlation;
  if (spanId === undefined) return undefined;
  const spanOwner = { workspace: workspace.id, spanId, owner };
  const release: Release = async ({ hasAnswer, error }) => {
    // A stored answer belongs to the call that used the span, a cached answer is an answer like any other, and a
    // running call keeps its span. Any other refusal comes before a provider is called, so the span stays unused.
    if (hasAnswer || isRunning(error)) return;
    await spans.withdraw(spanOwner);
  };
  async function reserve(): Promise<ReservationResult> {
    const { idempotencyKey } = parsed;
    const nowMs = clock.nowMs();
    const { kind } = await spans.claim({ ...spanOwner, idempotencyKey, fingerprint: parsed.fingerprint(), nowMs });
    return kind === 'duplicate' ? refusalResult('span', fail('duplicate_span_id')) : { release };
  }
  return { rank: 'span', reserve, releaseUncertain: release, mustReleaseBeforeAnswer: true };
}

const isRunning = (error: unknown): boolean => error instanceof GatewayError && error.code === 'execution_in_progress';

/** Headers of the answer that a replay repeats. All other headers belong to the request. */
const storedHeaders: readonly string[] = [
  'content-type',
  'cache-control',
  'x-accel-buffering',
  headerNames.model,
  headerNames.provider,
  headerNames.cost,
  headerNames.leftOut,
];

/**
 * Maximum number of tries. A large answer goes to the blob store first, which may take three seconds to fail, so that
 * two tries fit into the 10 s of a settlement.
 */
const storeTriesMax = 2;

const nothing = () => undefined;
const noClaims: CallClaims = { store: nothing, release: nothing, settle: nothing };

export function createCallClaims(deps: GatewayDependencies, call: IdentifiedCall, owner: string): CallClaims {
  const { idempotency, spans, clock, log, memory } = deps;
  const { parsed, workspace } = call;
  const { idempotencyKey: key, isFunctionCall, scope } = parsed;
  const { spanId } = scope.correlation;
  if (key === undefined && spanId === undefined) return noClaims;
  let isEnded = false;
  /** Stores the answer that could not be stored while the client waited, as far as there is memory for it. */
  let unstored: (() => Promise<void>) | undefined;
  /** Memory of that answer. */
  let copies: Copies | undefined;

  const logFailure = (error: unknown) =>
    log.error({ event: 'result_not_stored', failed_control: 'result', correlation_id: scope.correlationId }, error);

  async function store(
    answer: StoredAnswer,
    source: AnswerSource | undefined,
    { writesAgain } = { writesAgain: true },
  ): Promise<void> {
    if (key === undefined) return;
    const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => storedHeaders.includes(name)));
    const { model, provider } = source ?? {};
    const guardrails = guardrailIdsOf(call);
    const checkedBy = guardrails.length === 0 ? undefined : guardrails;
    const executionId = isFunctionCall ? owner : undefined;
    const result = { ...answer, headers, model, provider, executionId, guardrails: checkedBy };
    const completion = { workspace: workspace.id, key, owner, result };
    try {
      await complete(completion);
    } catch (error) {
      logFailure(error);
      if (!writesAgain || !(error instanceof StoreUnavailable)) return;
      copies = memory.openCopies();
      const stored = answerBytes({ stored: textBytesInMemory(answer.body ?? '') });
      const later = copies.take(stored) ? completion : { ...completion, result: { ...result, body: undefined } };
      unstored = () => complete(later);
    }
  }

  async function complete(completion: Omit<Parameters<typeof idempotency.complete>[0], 'nowMs'>): Promise<void> {
    await idempotency.complete({ ...completion, nowMs: clock.nowMs() });
    isEnded = true;
  }

  async function release({ isRetryable, reachedProvider }: ClaimsEnd): Promise<void> {
    if (isEnded) return;
    await Promise.all([
      // This call releases a running claim only. A completed claim stays.
      key !== undefined && idempotency.release({ workspace: workspace.id, key, owner }),
      spanId !== undefined && !reachedProvider && spans.withdraw({ workspace: workspace.id, spanId, owner }),
      spanId !== undefined &&
        reachedProvider &&
        isRetryable &&
        spans.release({ workspace: workspace.id, spanId, owner }),
    ]);
    isEnded = true;
  }

  async function settle(end: ClaimsEnd, deadline: Deadline): Promise<void> {
    if (unstored !== undefined) {
      await retryWrite(clock, unstored, { triesMax: storeTriesMax, deadline }).catch(logFailure);
      unstored = undefined;
      copies?.end();
    }
    await retryWrite(clock, () => release(end), { deadline });
  }
  return { store, release, settle };
}
