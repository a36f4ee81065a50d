// What models and providers besides the one that answered last have in a call: steps of a workflow, and answers that were
// charged and were no result.
import type { CallShare } from '../../../shared/accounting/call-records/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import type { Bill, Payer } from '../../../shared/routing/billing/index.ts';

/** `payer`: whose money the cost of the call is. Undefined: there are no others. */
export function otherSharesOf(
  { charges }: Bill,
  served: Candidate | undefined,
  payer: Payer,
): readonly CallShare[] | undefined {
  const shares = new Map<string, CallShare>();
  for (const { candidate, usage, cost, payer: paidBy } of charges) {
    const [model, provider] = [candidate.model.id, candidate.provider.id];
    if (model === served?.model.id && provider === served.provider.id) continue;
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
