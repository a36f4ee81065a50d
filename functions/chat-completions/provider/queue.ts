// Whose turn is it? The first candidate of the plan with a free slot; where all are at their limits, the call waits for
// the next slot as long as the operator allows (contract 6: `queue_ms`).

import { nextTry } from '../../../shared/accounting/limits/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { admissionTimeoutMs } from '../../../shared/foundation/constants/index.ts';
import { sleep, within } from '../../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import { estimateTokens, limitsOf } from '../provider-limits.ts';
import type { ClaimedCall, Turn } from '../stages.ts';

export interface Queue {
  /** Candidates that were not called yet, or are to be called again. */
  readonly waiting: () => number;
  /** Takes the next candidate out, with its permit; or says after how long one would be free. */
  readonly next: () => Promise<Turn | { readonly retryAfterSeconds: number }>;
  /** Puts a candidate back at the front. */
  readonly again: (candidate: Candidate) => void;
}

/** Rounds of asking: each is one write per limited candidate, so a crowd must not turn waiting into a storm. */
const roundsMax = 10;

export function createQueue(deps: ChatDependencies, call: ClaimedCall): Queue {
  const candidates = [...call.plan];
  let { firstTurn } = call;

  const take = (candidate: Candidate) => void candidates.splice(candidates.indexOf(candidate), 1);

  async function ask(candidate: Candidate): Promise<Turn | number> {
    const isBrought = call.byok?.sourceOf(candidate) !== undefined;
    if (isBrought) return { candidate, permit: undefined, startedAtMs: deps.clock.nowMs() };
    const { entry, limits } = limitsOf(candidate);
    const asking = deps.limiter.admit(entry, limits, estimateTokens(call.request, candidate));
    // Contract 6: a store is waited for no longer than this, and never past the deadline.
    const limitMs = Math.min(admissionTimeoutMs, call.deadline.remainingMs());
    const admission = await within(deps.clock, limitMs, asking, () =>
      call.deadline.isOver()
        ? fail('request_deadline_exceeded')
        : new StoreUnavailable(new Error('admission took too long')),
    );
    if (admission.kind === 'limited') return admission.retryAfterMs;
    return { candidate, permit: admission.permit, startedAtMs: deps.clock.nowMs() };
  }

  /** One round over everybody who waits. The number: milliseconds until the soonest slot. */
  async function askAll(): Promise<Turn | number> {
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const candidate of candidates) {
      const turn = await ask(candidate);
      if (typeof turn !== 'number') return turn;
      soonestMs = Math.min(soonestMs, turn);
    }
    return soonestMs;
  }

  /** The slot that was claimed with everything else, unless its candidate has left the plan since. */
  function claimedTurn(): Turn | undefined {
    const turn = firstTurn;
    firstTurn = undefined;
    if (turn === undefined) return undefined;
    // The time of a call begins with the call: what was claimed along with the slot is not the provider's doing.
    if (candidates.includes(turn.candidate)) return { ...turn, startedAtMs: deps.clock.nowMs() };
    const { permit } = turn;
    if (permit !== undefined) call.scope.afterwards.add(() => deps.limiter.giveBack(permit));
    return undefined;
  }

  return {
    waiting: () => candidates.length,
    again: (candidate) => void candidates.unshift(candidate),
    async next() {
      for (let round = 1; ; round += 1) {
        const turn = claimedTurn() ?? (await askAll());
        if (typeof turn !== 'number') {
          take(turn.candidate);
          return turn;
        }
        const queueMs = call.catalogue.service.queue_ms;
        const waitMs = nextTry(turn, call.ending.queuedMs, queueMs, call.deadline.remainingMs());
        if (waitMs === undefined || round >= roundsMax || call.scope.clientGone.aborted) {
          return { retryAfterSeconds: Math.ceil(turn / 1_000) };
        }
        await sleep(deps.clock, waitMs, call.scope.clientGone);
        call.ending.queuedMs += waitMs;
      }
    },
  };
}
