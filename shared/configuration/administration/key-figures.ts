// Keys with what they have spent, as their own items say.
import { readKeySpending } from '../../accounting/holds/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { collect, mapParallel, parallelReads } from '../../foundation/parallel/index.ts';
import { isKeyExpired, type KeyRecord } from '../keys/index.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'keys' | 'clock'>;

export interface KeyFigures extends KeyRecord {
  /** Null without a spend limit: spending is then counted in the call records only. */
  readonly spent: PicoUsd | null;
  /** Of calls that run now; null as above. */
  readonly held: PicoUsd | null;
  /** Its `expiresAtMs` has passed. */
  readonly isExpired: boolean;
}

/** Every key, or those of one workspace; by workspace and name. */
export async function readKeys({ keys, clock }: Dependencies, workspace?: string): Promise<KeyFigures[]> {
  const all = await collect(keys.list());
  const records = all.filter((record) => workspace === undefined || record.workspace === workspace);
  const figures = await mapParallel(records, parallelReads, (record) => readFigures({ keys, clock }, record));
  return figures.sort((a, b) => compare(a.workspace, b.workspace) || compare(a.name, b.name));
}

export async function readFigures({ keys, clock }: Dependencies, record: KeyRecord): Promise<KeyFigures> {
  const item = (await keys.readItem(record.publicId)) ?? {};
  const nowMs = clock.nowMs();
  const { spent, held } = readKeySpending(item, nowMs) ?? { spent: null, held: null };
  return { ...record, spent, held, isExpired: isKeyExpired(record, nowMs) };
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
