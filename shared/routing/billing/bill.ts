// What one call owes: a charge for every answer a provider gave for it, also for those that no client saw (a retried
// structured output). Belongs to one request; written by the stages that call providers, read by settlement.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { addCosts, type Cost, costOf, noCost } from './cost.ts';
import { type BilledUsage, type ObservedBytes, readUsage, sumBilledUsage } from './usage.ts';
import { type OutputSize, outputTokensMax } from './worst-case.ts';

/** `client`: paid with a key of the client's own, to the provider directly. */
export type Payer = 'workspace' | 'client';

export interface Charge {
  readonly candidate: Candidate;
  readonly usage: BilledUsage;
  /** As the provider reported it. */
  readonly reported: Record<string, unknown> | undefined;
  /** At catalogue prices, paid by the workspace or by the client. */
  readonly cost: Cost;
  readonly payer: Payer;
}

/** An answer to be charged. */
export interface ChargedAnswer {
  readonly candidate: Candidate;
  /** Usage as the provider reported it. */
  readonly reported: Record<string, unknown> | undefined;
  readonly observed: ObservedBytes;
  readonly payer: Payer;
  /** What the call asked for: more is not billed. */
  readonly asked: OutputSize;
}

export interface Bill {
  /** Prices what a provider reported, or what was observed where it reported nothing. */
  charge(answer: ChargedAnswer): Charge;
  readonly charges: readonly Charge[];
  /** Of all charges, paid by the workspace or by the client. */
  usage(): BilledUsage;
  upstreamCost(): Cost;
  /** What this payer owes, of one provider or of all. */
  totalOf(payer: Payer, provider?: string): PicoUsd;
}

export function openBill(): Bill {
  const charges: Charge[] = [];
  return {
    charge({ candidate, reported, observed, payer, asked }) {
      const { provider, entry, prices } = candidate;
      const bounds = { promptTokens: entry.context_length, completionTokens: outputTokensMax(candidate, asked) };
      const usage = readUsage(reported, provider.reasoning_tokens, observed, bounds);
      const charge = { candidate, usage, reported, cost: costOf(usage, prices), payer };
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
