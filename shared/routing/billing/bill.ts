// Bills one call, with a charge for every answer of a provider, including answers that no client saw (a retried
// structured output). A bill belongs to one request; stages that call providers write it, settlement reads it.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { type CallSize, type MediaTokens, tokensMax, type Units, type UsageReport } from '../../protocol/wire/index.ts';
import { type BilledUsage, type ObservedOutput, sumBilledUsage, toBilledUsage } from './billed-usage.ts';
import { reportableMediaOf } from './call-prices.ts';
import { addCosts, type Cost, costOf, isExactByUnits, isGuessedByUnits, noCost } from './cost.ts';
import { unitsWithin, unreportedImageTokens, unreportedSpeechTokens } from './unit-cost.ts';
import { contextTokensMax, estimateInputTokens, inputTokensMax, outputTokensMax } from './worst-case.ts';

/** `client` is paid with a key of the client's own, to the provider directly. */
export type Payer = 'workspace' | 'client';

export interface Charge {
  readonly candidate: Candidate;
  readonly usage: BilledUsage;
  readonly reported: UsageReport | undefined;
  /** Cost at catalogue prices, paid by the workspace or by the client. */
  readonly cost: Cost;
  readonly payer: Payer;
  /**
   * Units of which the provider counts more than was reserved. The provider's count is billed, because the operator
   * pays by the provider's count.
   */
  readonly overHold: readonly OverHold[];
}

interface ChargedAnswer {
  readonly candidate: Candidate;
  readonly reported: UsageReport | undefined;
  readonly output: ObservedOutput;
  readonly payer: Payer;
  /** Size of the call, on which estimates are based and by which the bill is bounded. */
  readonly size: CallSize;
}

export interface Bill {
  /** Prices the provider's report, or observed tokens if it reported nothing. */
  charge(answer: ChargedAnswer): Charge;
  readonly charges: readonly Charge[];
  /** Returns the usage of all charges, paid by the workspace or by the client. */
  usage(): BilledUsage;
  upstreamCost(): Cost;
  /** Returns the cost for this payer, at one provider or at all. */
  totalOf(payer: Payer, provider?: string): PicoUsd;
}

export function openBill(): Bill {
  const charges: Charge[] = [];
  return {
    charge({ candidate, reported, output, payer, size }) {
      const { provider, entry, prices } = candidate;
      const bounds = {
        promptTokens: contextTokensMax(entry, size),
        completionTokens: outputTokensMax(candidate, size),
        inputMedia: reportableMediaOf(size),
      };
      const units =
        size.units && unitsWithin(size.units, { ...size.usualUnits, ...output.units, ...unitsIn(reported) });
      const imageTokens = units && unreportedImageTokens(units, size, bounds.completionTokens, prices);
      const speechTokens = units && unreportedSpeechTokens(units, prices);
      const unread = imageTokens ?? speechTokens;
      const observed = {
        ...output,
        ...(unread === undefined ? {} : { unreportedTokens: unread }),
        unreportedKind: imageTokens === undefined ? ('audioOutput' as const) : ('imageOutput' as const),
        promptTokens: estimateInputTokens(candidate, size),
        promptMedia: promptMediaOf(size),
      };
      const tokens = toBilledUsage(reported?.tokens, provider.reasoning_tokens, observed, bounds);
      const inUnits: BilledUsage =
        units === undefined ? tokens : { ...tokens, units, reportedCounts: reportedParts(reported, size.units) };
      const estimated = isGuessedByUnits(inUnits, prices) || (inUnits.estimated && !isExactByUnits(inUnits, prices));
      const usage = { ...inUnits, estimated };
      const cost = costOf(usage, prices);
      const counted = { usage, reported, output, size, inputTokensMax: inputTokensMax(candidate, size) };
      const charge = { candidate, usage, reported, cost, payer, overHold: overHoldOf(counted) };
      charges.push(charge);
      return charge;
    },
    charges,
    usage: () => sumBilledUsage(charges.map(({ usage }) => usage)),
    upstreamCost: () => charges.reduce((sum, { cost }) => addCosts(sum, cost), noCost),
    totalOf(payer, provider) {
      let total = 0n;
      for (const { payer: payerOfThis, candidate, cost } of charges) {
        if (payerOfThis === payer && (provider ?? candidate.provider.id) === candidate.provider.id) total += cost.total;
      }
      return total;
    },
  };
}

/** Returns the media tokens of a prompt. Media that only the context bounds count as the whole prompt. */
const promptMediaOf = ({ mediaKind, mediaTokens }: CallSize): MediaTokens =>
  mediaKind === undefined ? {} : { [mediaKind]: mediaTokens ?? tokensMax };

const reportedParts = (report: UsageReport | undefined, most: Units | undefined) => ({
  input: report?.tokens.input !== undefined,
  output: report?.tokens.output !== undefined,
  requests: report?.requests !== undefined && report.requests <= (most?.requests ?? 1),
});

const unitsIn = ({ seconds, requests }: Partial<UsageReport> = {}) => ({
  ...(seconds === undefined ? {} : { seconds }),
  ...(requests === undefined ? {} : { requests }),
});

// Finds where a provider counts more than the call reserved.

/** Units that operators read in their log; characters are counted only by the gateway. */
type CountedUnit = 'input tokens' | 'seconds' | 'images' | 'search units';

interface OverHold {
  readonly unit: CountedUnit;
  readonly reported: number;
  readonly held: number;
}

interface CountedAnswer {
  readonly usage: BilledUsage;
  readonly reported: UsageReport | undefined;
  readonly output: ObservedOutput;
  readonly size: CallSize;
  /** The most input tokens that the body can have. */
  readonly inputTokensMax: number;
}

/** Returns the excess in each unit that was counted. */
function overHoldOf({ usage, reported, output, size, inputTokensMax }: CountedAnswer): readonly OverHold[] {
  const { seconds, images, requests = 1 } = size.units ?? {};
  const inputTokens = usage.promptTokens > inputTokensMax ? reported?.tokens.input : undefined;
  const over: OverHold[] = [];
  addOverHold(over, 'input tokens', inputTokens, inputTokensMax);
  addOverHold(over, 'seconds', reported?.seconds, seconds);
  addOverHold(over, 'images', output.units?.images?.count, images?.count);
  addOverHold(over, 'search units', reported?.requests, requests);
  return over;
}

function addOverHold(over: OverHold[], unit: CountedUnit, reported: number | undefined, held: number | undefined) {
  if (reported !== undefined && held !== undefined && reported > held) over.push({ unit, reported, held });
}
