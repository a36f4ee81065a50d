// `usage` of a function call: summed over all provider calls, with the members of every answer.

import { mergeUsage, sumUsage } from '../../../shared/routing/billing/index.ts';
import type { AdmittedExecution } from '../stages.ts';

export function executionUsage({ bill }: AdmittedExecution, attempts: number): Record<string, unknown> {
  const { charges } = bill;
  const last = charges.at(-1)?.candidate;
  if (last === undefined) throw new Error('a function answered without any provider call');
  const reported = sumUsage(charges.map(({ reported }) => reported?.members));
  const charged = { total: bill.totalOf('workspace'), upstream: bill.upstreamCost() };
  const served = {
    provider: last.provider.id,
    model: last.model.id,
    attempts,
    isByok: false,
    cacheHit: false,
  };
  return mergeUsage({ ...reported }, bill.usage(), charged, served);
}
