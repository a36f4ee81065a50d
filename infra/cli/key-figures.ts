// A key with what it has spent and holds, as its own item says.

import { readKeySpending } from '../../shared/accounting/holds/index.ts';
import type { KeyRecord, KeyStore } from '../../shared/configuration/keys/index.ts';
import type { PicoUsd } from '../../shared/foundation/money/index.ts';
import { operatorClock } from './operator-clock.ts';
import { mapParallel } from './parallel.ts';

export interface KeyFigures extends KeyRecord {
  /** Null without a spend limit: nothing is counted on the key then, only in the call records. */
  readonly spent: PicoUsd | null;
  /** Of calls that run now; null as above. */
  readonly held: PicoUsd | null;
}

const parallelReads = 16;

/** Every key, of one workspace or of all, by workspace and name. */
export async function readKeyFigures(keys: KeyStore, workspace?: string): Promise<KeyFigures[]> {
  const records: KeyRecord[] = [];
  for await (const record of keys.list()) {
    if (workspace === undefined || record.workspace === workspace) records.push(record);
  }
  const figures = await mapParallel(records, parallelReads, async (record) => {
    if (record.spendLimitUsd === null) return { ...record, spent: null, held: null };
    const spending = readKeySpending((await keys.readItem(record.publicId)) ?? {}, operatorClock.nowMs());
    return { ...record, spent: spending?.spent ?? 0n, held: spending?.held ?? 0n };
  });
  return figures.sort((a, b) => compare(a.workspace, b.workspace) || compare(a.name, b.name));
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
