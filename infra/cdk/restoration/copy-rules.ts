// What a restoration does not take back: the ends of keys, the marks of the restoration itself, and what calls have written
// since they are served again.
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import {
  callTimes,
  cataloguePointerItem,
  configFreshMs,
  type TableDefinition,
  type TableName,
  tableDefinitions,
} from '../../../shared/foundation/constants/index.ts';
import type { CopyRules } from './copy-table.ts';
import type { StoredItem } from './table-pages.ts';

/** Of the item in `config` that says how far a restoration has come. */
export const markKey = 'RESTORATION';

/** Not needed to serve a call, and large: taken back while calls are served. */
export const lateTables: readonly TableName[] = ['spans', 'records'];

export const keyNamesOf = (table: TableName): readonly string[] => {
  const { partitionKey, sortKey }: TableDefinition = tableDefinitions[table];
  return sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
};

/** Attributes of keys and of operator keys. */
const [statusOf, endOf] = ['status', 'expires_at_ms'] as const;
const endMs = (item: StoredItem): number => Number(item[endOf]?.N ?? Number.POSITIVE_INFINITY);

/**
 * A key that was revoked stays revoked, and one that got an earlier end, as a rotation gives it, keeps that: a text that
 * was lost does not work again. `tell` is given a line for each.
 */
export const keepEnds =
  (tell: (line: string) => void): NonNullable<CopyRules['merge']> =>
  (former, now) => {
    if (now === undefined) return former;
    const isRevoked = now[statusOf]?.S === 'revoked' && former[statusOf]?.S !== 'revoked';
    const end = endMs(now) < endMs(former) ? now[endOf] : undefined;
    if (!isRevoked && end === undefined) return former;
    const key = `${former.pk?.S} (${now.name?.S ?? 'without a name'})`;
    if (isRevoked) tell(`revoked since, and stays so: ${key}`);
    else {
      const text = new Date(endMs(now)).toISOString();
      tell(
        `rotated since, or given an end: ${key} keeps the end ${text}, and what a rotation made in its place is gone`,
      );
    }
    return {
      ...former,
      ...(isRevoked ? { [statusOf]: now[statusOf] as AttributeValue } : {}),
      ...(end === undefined ? {} : { [endOf]: end }),
    };
  };

/** From the mark to the first call that is served again: the last of the former ones has begun and ended in between. */
export const pauseMs = (streamBudgetSeconds: number): number =>
  configFreshMs + callTimes(streamBudgetSeconds).functionTimeoutSeconds * 1_000;

const spanLifeSeconds = 30 * 24 * 60 * 60;

export function rulesOf(
  table: TableName,
  { betweenMs, tell }: { readonly betweenMs: number; readonly tell: (line: string) => void },
): CopyRules {
  if (table === 'config') return { kept: [cataloguePointerItem.key, markKey] };
  if (table === 'keys' || table === 'operators') return { merge: keepEnds((line) => tell(`${table}: ${line}`)) };
  if (table === 'records')
    return surplusBefore(betweenMs, ['sk'], ({ sk }) => Date.parse(sk?.S?.split('#', 1)[0] ?? ''));
  if (table === 'spans') {
    const expires = 'expires_at_epoch_seconds';
    return surplusBefore(betweenMs, [expires], (item) => (Number(item[expires]?.N) - spanLifeSeconds) * 1_000);
  }
  return {};
}

/** `madeAtMs`: of an item that the restored table does not have. Made later than `betweenMs`, it is of a call after it. */
const surplusBefore = (
  betweenMs: number,
  attributes: readonly string[],
  madeAtMs: (item: StoredItem) => number,
): CopyRules => ({ surplus: { attributes, goes: (item) => madeAtMs(item) < betweenMs } });
