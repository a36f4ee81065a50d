// Finds the next candidate of the plan with a free slot. If all candidates are at their limits, the call waits for a
// slot as long as the operator allows (`queue_ms`).
import { nextTry, type Permit } from '../../../shared/accounting/limits/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { newSpanId } from '../../../shared/foundation/telemetry/index.ts';
import { sleep, waitAtMost } from '../../../shared/foundation/time/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import { type AdmittedCandidate, askLimits } from '../../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import { startAdmissionTime } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProviderCall } from '../stages.ts';

type NextCandidate = AdmittedCandidate | { readonly retryAfterSeconds: number };

export interface CandidateQueue {
  /** Number of provider entries with candidates that are still in the queue. */
  readonly remainingEntries: () => number;
  /**
   * Removes the next candidate from the queue and returns it admitted, or returns the seconds after which a candidate
   * would be free.
   */
  readonly next: () => NextCandidate | Promise<NextCandidate>;
  /** Puts a candidate back at the front. */
  readonly putBack: (candidate: Candidate) => void;
  /**
   * If the failure would affect every credential of the entry, moves its other candidates to the end, or removes them.
   */
  readonly skipEntry: (candidate: Candidate, failure: AttemptFailure) => void;
  /** Restarts the time of an admitted candidate for another call with the same permit. */
  readonly restart: (admitted: AdmittedCandidate) => AdmittedCandidate;
  readonly queuedMs: () => number;
  /** The permit that admission reserved, if its candidate was never called. Settlement releases this permit. */
  readonly unusedPermit: () => Permit | undefined;
}

/**
 * Maximum number of rounds in which all candidates are tried. Each round writes once per limited candidate, so the
 * maximum bounds the writes of many waiting calls.
 */
const roundsMax = 10;

export function createCandidateQueue(deps: GatewayDependencies, call: ProviderCall): CandidateQueue {
  const { clock, limiter } = deps;
  const { scope, deadline } = call.parsed;
  const candidates = [...call.modelCall.plan];
  let [reserved, queuedMs] = [call.admitted.reservations.firstCandidate, 0];
  /** True once a provider was called. Each later wait for the store has a time limit of its own. */
  let hasCalled = false;

  async function ask(candidate: Candidate): Promise<AdmittedCandidate | number> {
    if (payerOf(call.terms.byok, candidate) === 'client')
      return { candidate, permit: undefined, startedAtMs: clock.nowMs() };
    const asking = askLimits(limiter, candidate, call.parsed, call.modelCall);
    // The wait never exceeds the deadline.
    const admissionTime = hasCalled ? startAdmissionTime(clock) : call.admissionTime;
    const admission = await waitAtMost(clock, deadline.remainingMs(), admissionTime.wait(asking), () => {
      throw fail('request_deadline_exceeded');
    });
    if (admission.kind === 'limited') return admission.retryAfterMs;
    return { candidate, permit: admission.permit, startedAtMs: clock.nowMs() };
  }

  /** Tries all waiting candidates once. Returns the admitted candidate, or the milliseconds until the soonest slot. */
  async function askAll(): Promise<AdmittedCandidate | number> {
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const candidate of candidates) {
      const outcome = await ask(candidate);
      if (typeof outcome !== 'number') return outcome;
      soonestMs = Math.min(soonestMs, outcome);
    }
    return soonestMs;
  }

  function takeReserved(): AdmittedCandidate | undefined {
    if (reserved === undefined || !candidates.includes(reserved.candidate)) return undefined;
    const { candidate, permit } = reserved;
    reserved = undefined;
    // The latency of a provider begins now, and not when its slot was reserved.
    return { candidate, permit, startedAtMs: clock.nowMs() };
  }

  const withSpanId = (admitted: AdmittedCandidate): AdmittedCandidate =>
    scope.trace === undefined ? admitted : { ...admitted, spanId: newSpanId(deps.randomness) };

  const cancelSignals = [scope.clientGone, call.cancelSignal].filter((signal) => signal !== undefined);

  function startCall(admitted: AdmittedCandidate): AdmittedCandidate {
    candidates.splice(candidates.indexOf(admitted.candidate), 1);
    hasCalled = true;
    return withSpanId(admitted);
  }

  async function askInRounds(): Promise<NextCandidate> {
    for (let round = 1; ; round += 1) {
      const outcome = await askAll();
      if (typeof outcome !== 'number') return startCall(outcome);
      const waitMs = nextTry(outcome, queuedMs, call.identified.catalogue.service.queue_ms, deadline.remainingMs());
      const isOver = waitMs === undefined || round >= roundsMax || cancelSignals.some(({ aborted }) => aborted);
      if (isOver) return { retryAfterSeconds: Math.ceil(outcome / 1_000) };
      await sleep(clock, waitMs, AbortSignal.any(cancelSignals));
      queuedMs += waitMs;
    }
  }

  return {
    remainingEntries: () => countEntries(candidates),
    skipEntry({ entry, provider: { credential } }, { kind, refusedCredential, hasNoQuota }) {
      const isCredentialFault = kind === 'rate_limited' || refusedCredential === true || hasNoQuota === true;
      if (credential === undefined || isCredentialFault) return;
      const others = candidates.filter((candidate) => candidate.entry === entry);
      for (const other of others) candidates.splice(candidates.indexOf(other), 1);
      // An invalid request fails with every credential. After any other failure another provider is called first.
      if (kind !== 'invalid') candidates.push(...others);
    },
    putBack: (candidate) => void candidates.unshift(candidate),
    restart: (admitted) => withSpanId({ ...admitted, startedAtMs: clock.nowMs() }),
    queuedMs: () => queuedMs,
    next() {
      const admitted = takeReserved();
      return admitted === undefined ? askInRounds() : startCall(admitted);
    },
    unusedPermit: () => reserved?.permit,
  };
}

const countEntries = (candidates: readonly Candidate[]): number =>
  candidates.length < 2 ? candidates.length : new Set(candidates.map(({ entry }) => entry)).size;
