// Where a provider counts more than the call held.
import type { CallSize, UsageReport } from '../../protocol/wire/index.ts';
import type { BilledUsage, ObservedOutput } from './billed-usage.ts';

/** Of what operators read in their log; characters are counted by the gateway alone. */
type CountedUnit = 'input tokens' | 'seconds' | 'images' | 'search units';

export interface OverHold {
  readonly unit: CountedUnit;
  readonly reported: number;
  readonly held: number;
}

interface CountedAnswer {
  readonly usage: BilledUsage;
  readonly reported: UsageReport | undefined;
  readonly output: ObservedOutput;
  readonly size: CallSize;
  /** The most input that the body can have. */
  readonly inputTokensMax: number;
}

/** In each unit that was counted. */
export function overHoldOf({ usage, reported, output, size, inputTokensMax }: CountedAnswer): readonly OverHold[] {
  const { seconds, images, requests = 1 } = size.units ?? {};
  const inputTokens = usage.promptTokens > inputTokensMax ? reported?.tokens.input : undefined;
  const counts: readonly (readonly [CountedUnit, number | undefined, number | undefined])[] = [
    ['input tokens', inputTokens, inputTokensMax],
    ['seconds', reported?.seconds, seconds],
    ['images', output.units?.images?.count, images?.count],
    ['search units', reported?.requests, requests],
  ];
  return counts.flatMap(([unit, counted, held]) =>
    counted === undefined || held === undefined || counted <= held ? [] : [{ unit, reported: counted, held }],
  );
}
