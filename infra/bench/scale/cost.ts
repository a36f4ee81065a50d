// What a month at a steady rate costs, without the providers' own bills.
import { amountOf } from './counted.ts';
import type { Setup } from './setup.ts';
import { tableUnits } from './table-units.ts';

export interface Cost {
  readonly perMillionCalls: number;
  readonly perMonth: number;
  /** Of a million calls. */
  readonly parts: Readonly<Record<'lambda' | 'store' | 'edge' | 'logs', number>>;
}

const secondsPerMonth = 30 * 24 * 3_600;
const million = 1_000_000;

/** Lambda's share is that of classic functions: Web Functions bill processor time, at prices that were not public. */
export function costOf(setup: Setup, perSecond: number): Cost {
  const { secondsPerCall, memoryMb, keySpendLimit, keyRequestsPerMinute } = setup;
  const gbSeconds = (secondsPerCall + amountOf('overheadSeconds')) * (memoryMb / 1_024);
  const isStale = Math.min(1, secondsPerCall / amountOf('configFreshSeconds'));
  const reads = amountOf('configReads') * isStale + (keySpendLimit || keyRequestsPerMinute ? 0 : 1);
  const parts = {
    lambda: gbSeconds * amountOf('perGbSecond') * million + amountOf('perMillionInvocations'),
    store:
      (tableUnits(setup, perSecond).all / perSecond) * amountOf('perMillionWrites') +
      reads * amountOf('perMillionReads'),
    edge: amountOf('perMillionEdgeRequests'),
    logs: amountOf('perMillionLogsAndEgress'),
  };
  const perMillionCalls = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return { parts, perMillionCalls, perMonth: (perMillionCalls / million) * perSecond * secondsPerMonth };
}
