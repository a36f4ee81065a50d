// Finds the next candidate of the plan with a free slot; where all are at their limits, the call waits for a slot as
// long as the operator allows (`queue_ms`).
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
  /** Number of provider entries with candidates that were not called yet, or are to be called again. */
  readonly waiting: () => number;
  /**
   * Removes the next candidate from the queue and returns it admitted, or returns the seconds after which one would be
   * free.
   */
  readonly next: () => NextCandidate | Promise<NextCandidate>;
  /** Puts a candidate back at the front. */
  readonly again: (candidate: Candidate) => void;
  /** Reports a credential's failure to the other credentials of its entry. */
  readonly failed: (candidate: Candidate, failure: AttemptFailure) => void;
  /** Returns the admitted candidate for another call in the slot that it has, timed from now on. */
  readonly renewed: (admitted: AdmittedCandidate) => AdmittedCandidate;
  readonly queuedMs: () => number;
  /** Permit of a candidate that was admitted beforehand and not called, which settlement releases. */
  readonly unusedPermit: () => Permit | undefined;
}

/**
 * Number of times that all candidates are asked. Each time is one write per limited candidate, so many waiting calls
 * must not multiply into many writes.
 */
const roundsMax = 10;

export function createCandidateQueue(deps: GatewayDependencies, call: ProviderCall): CandidateQueue {
  const { clock, limiter } = deps;
  const { scope, deadline } = call.parsed;
  const candidates = [...call.modelCall.plan];
  let [reserved, queuedMs] = [call.admitted.holdings.firstCandidate, 0];
  /** True once a provider was called: from then on each wait for the store has a time limit of its own. */
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

  /** Asks all waiting candidates once. Returns the admitted one, or the milliseconds until the soonest slot. */
  async function askAll(): Promise<AdmittedCandidate | number> {
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const candidate of candidates) {
      const admitted = await ask(candidate);
      if (typeof admitted !== 'number') return admitted;
      soonestMs = Math.min(soonestMs, admitted);
    }
    return soonestMs;
  }

  function takeReserved(): AdmittedCandidate | undefined {
    if (reserved === undefined || !candidates.includes(reserved.candidate)) return undefined;
    const { candidate, permit } = reserved;
    reserved = undefined;
    // The latency of a provider begins now, not when its slot was reserved.
    return { candidate, permit, startedAtMs: clock.nowMs() };
  }

  const traced = (admitted: AdmittedCandidate): AdmittedCandidate =>
    scope.trace === undefined ? admitted : { ...admitted, spanId: newSpanId(deps.randomness) };

  const ends = [scope.clientGone, call.cut].filter((signal) => signal !== undefined);

  function begun(admitted: AdmittedCandidate): AdmittedCandidate {
    candidates.splice(candidates.indexOf(admitted.candidate), 1);
    hasCalled = true;
    return traced(admitted);
  }

  async function askInRounds(): Promise<NextCandidate> {
    for (let round = 1; ; round += 1) {
      const admitted = await askAll();
      if (typeof admitted !== 'number') return begun(admitted);
      const waitMs = nextTry(admitted, queuedMs, call.identified.catalogue.service.queue_ms, deadline.remainingMs());
      const isOver = waitMs === undefined || round >= roundsMax || ends.some(({ aborted }) => aborted);
      if (isOver) return { retryAfterSeconds: Math.ceil(admitted / 1_000) };
      await sleep(clock, waitMs, AbortSignal.any(ends));
      queuedMs += waitMs;
    }
  }

  return {
    waiting: () => (candidates.length < 2 ? candidates.length : new Set(candidates.map(({ entry }) => entry)).size),
    failed({ entry, provider: { credential } }, { kind, refusedCredential, hasNoQuota }) {
      const isOfCredential = kind === 'rate_limited' || refusedCredential === true || hasNoQuota === true;
      if (credential === undefined || isOfCredential) return;
      const others = candidates.filter((candidate) => candidate.entry === entry);
      for (const other of others) candidates.splice(candidates.indexOf(other), 1);
      // After a rejected request every credential would fail. After any other failure another provider is called first.
      if (kind !== 'invalid') candidates.push(...others);
    },
    again: (candidate) => void candidates.unshift(candidate),
    renewed: (admitted) => traced({ ...admitted, startedAtMs: clock.nowMs() }),
    queuedMs: () => queuedMs,
    next() {
      const admitted = takeReserved();
      return admitted === undefined ? askInRounds() : begun(admitted);
    },
    unusedPermit: () => reserved?.permit,
  };
}
