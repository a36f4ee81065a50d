// Write units a second, by table and in all, for a setup that carries the rate.
import { amountOf } from './counted.ts';
import { type HotItem, unitsPerWrite } from './item-load.ts';
import type { Setup } from './setup.ts';

export interface TableUnits {
  readonly byTable: Readonly<Record<'keys' | 'ledger' | 'limits' | 'records' | 'statistics', number>>;
  readonly busiest: number;
  readonly all: number;
}

/** Items are shared evenly: by keys, by workspaces and their shards. */
export function tableUnits(setup: Setup, perSecond: number): TableUnits {
  const { secondsPerCall, keySpendLimit, keyRequestsPerMinute, keys, workspaces, creditShards } = setup;
  const unitsOf = (baseBytes: number, secondsHeld: number, items: number) => {
    const item: HotItem = { writesPerCall: 1, baseBytes, secondsHeld };
    return unitsPerWrite(item, perSecond / items);
  };
  const keyWrites = keySpendLimit ? amountOf('keyWritesElsewhere') : amountOf('keyWritesElsewhere') - 1;
  const byTable = {
    keys:
      keySpendLimit || keyRequestsPerMinute
        ? perSecond * keyWrites * unitsOf(amountOf('keyItemBytes'), keySpendLimit ? secondsPerCall : 0, keys)
        : 0,
    ledger:
      perSecond *
      amountOf('creditWrites') *
      unitsOf(amountOf('creditItemBytes'), secondsPerCall, workspaces * creditShards),
    limits: perSecond * amountOf('limiterWrites'),
    records: perSecond * amountOf('recordWrites'),
    statistics: perSecond * amountOf('statisticsWrites') * Math.ceil(amountOf('statisticsItemBytes') / 1_024),
  };
  const each = Object.values(byTable);
  return { byTable, busiest: Math.max(...each), all: each.reduce((sum, units) => sum + units, 0) };
}
