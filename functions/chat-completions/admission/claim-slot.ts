// A slot of the first candidate, so that an admission within its limits costs no round of its own. Where it has none
// free this says nothing: whose turn it is then is a matter of the provider loop's queue.
import type { ChatDependencies } from '../dependencies.ts';
import { estimateTokens, limitsOf } from '../provider-limits.ts';
import type { RoutedCall, Turn } from '../stages.ts';
import { type Claim, granted, heard } from './claim.ts';

export type SlotClaim = Claim & { readonly turn?: Turn | undefined };

/** What was taken without an answer comes free with its window. */
export const claimSlot = (deps: ChatDependencies, call: RoutedCall): Promise<SlotClaim> =>
  heard('slot', takeSlot(deps, call));

async function takeSlot(deps: ChatDependencies, { plan, byok, request }: RoutedCall): Promise<SlotClaim> {
  const [candidate] = plan;
  const startedAtMs = deps.clock.nowMs();
  if (byok?.sourceOf(candidate) !== undefined) {
    return { ...granted(), turn: { candidate, permit: undefined, startedAtMs } };
  }
  const { entry, limits } = limitsOf(candidate);
  const admission = await deps.limiter.admit(entry, limits, estimateTokens(request, candidate));
  if (admission.kind === 'limited') return granted();
  const { permit } = admission;
  return { ...granted(() => deps.limiter.giveBack(permit)), turn: { candidate, permit, startedAtMs } };
}
