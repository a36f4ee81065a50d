// What one call owes: a charge for every answer a provider gave for it, also for those no client saw (a retried
// structured output). Belongs to one request; written by the stages that call providers, read by settlement.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { addCosts, type Cost, costOf, noCost } from './cost.ts';
import { type BilledUsage, type ObservedBytes, readUsage, sumBilledUsage } from './usage.ts';

/** `client`: paid with a key of the client's own, to the provider directly. */
export type Payer = 'workspace' | 'client';

export interface Charge {
  readonly candidate: Candidate;
  readonly usage: BilledUsage;
  /** As the provider reported it. */
  readonly reported: Record<string, unknown> | undefined;
  /** At catalogue prices, whoever pays. */
  readonly cost: Cost;
  readonly payer: Payer;
}

export interface Bill {
  /** Prices what a provider reported, or what was observed where it reported nothing. */
  charge(
    candidate: Candidate,
    reported: Record<string, unknown> | undefined,
    observed: ObservedBytes,
    payer: Payer,
  ): Charge;
  readonly charges: readonly Charge[];
  /** Of all charges, whoever pays. */
  usage(): BilledUsage;
  upstreamCost(): Cost;
  /** What this payer owes, of one provider or of all. */
  totalOf(payer: Payer, provider?: string): PicoUsd;
}

export function openBill(): Bill {
  const charges: Charge[] = [];
  return {
    charge(candidate, reported, observed, payer) {
      const usage = readUsage(reported, candidate.provider.reasoning_tokens, observed);
      const charge = { candidate, usage, reported, cost: costOf(usage, candidate.prices), payer };
      charges.push(charge);
      return charge;
    },
    charges,
    usage: () => sumBilledUsage(charges.map(({ usage }) => usage)),
    upstreamCost: () => charges.reduce((sum, { cost }) => addCosts(sum, cost), noCost),
    totalOf: (payer, provider) =>
      charges
        .filter(
          (charge) =>
            charge.payer === payer && (provider ?? charge.candidate.provider.id) === charge.candidate.provider.id,
        )
        .reduce((sum, { cost }) => sum + cost.total, 0n),
  };
}
