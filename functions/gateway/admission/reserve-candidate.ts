// Admits the first candidate along with everything else, so that a call within its provider's limits needs no round of
// its own. A candidate without a free slot is no refusal: the provider loop queues for one.
import { entryOf, estimateTokens, limitsOf } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { RoutedCall } from '../stages.ts';
import type { Reservation, Reserved } from './reservation.ts';

export const reserveCandidate = (deps: GatewayDependencies, call: RoutedCall): Reservation => ({
  rank: 'candidate',
  reserve: () => admitFirst(deps, call),
  // What was taken without an answer comes free with its window.
});

async function admitFirst(
  { limiter, clock }: GatewayDependencies,
  { plan, byok, size }: RoutedCall,
): Promise<Reserved> {
  const [candidate] = plan;
  const startedAtMs = clock.nowMs();
  if (byok?.sourceOf(candidate) !== undefined) {
    return { holdings: { firstCandidate: { candidate, permit: undefined, startedAtMs } } };
  }
  const admission = await limiter.admit(entryOf(candidate), limitsOf(candidate), estimateTokens(size, candidate));
  if (admission.kind === 'limited') return {};
  const { permit } = admission;
  return {
    holdings: { firstCandidate: { candidate, permit, startedAtMs } },
    giveBack: () => limiter.giveBack(permit),
  };
}
