// Finds the share of its limit that the spending of a charged counter passes. Pure, except for an account whose credit
// is spread over shards, because one shard shows nothing about the other shards.
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { type CreditPayments, creditAttributes, creditKey } from '../credit/index.ts';
import { readAmount, readKeySpending } from '../holds/index.ts';
import type { AlertType } from './alert.ts';
import { type MarkPlace, readShareMark, type ShareMark } from './alert-mark.ts';
import type { ChargedCounter } from './alerts.ts';

export interface WatchedSpending {
  readonly type: AlertType;
  readonly workspace: string;
  readonly key?: string | undefined;
  readonly provider?: string | undefined;
  readonly place: MarkPlace;
  readonly mark: ShareMark | undefined;
  readonly spent: PicoUsd;
  readonly limit: PicoUsd;
  /** First day of the period; null for none. */
  readonly period: string | null;
  /** Scope of the mark. */
  readonly scope: string;
  /** Amount spent before the scope began. */
  readonly from?: PicoUsd | undefined;
}

/** Scope of a limit without periods. */
const ever = 'ever';

interface SpendingSources {
  readonly credit: Pick<CreditPayments, 'show'>;
  readonly nowMs: number;
}

export async function readSpendings(charged: ChargedCounter, sources: SpendingSources): Promise<WatchedSpending[]> {
  if (Object.keys(charged.item).length === 0) return [];
  if (charged.kind === 'key') return keySpending(charged, sources.nowMs);
  return charged.kind === 'budget' ? budgetSpending(charged) : creditSpendings(charged, sources);
}

function keySpending({ publicId, item }: ChargedCounter & { readonly kind: 'key' }, nowMs: number): WatchedSpending[] {
  const { spent, limit, periodStartMs } = readKeySpending(item, nowMs);
  if (limit === null) return [];
  const period = periodStartMs === null ? null : new Date(periodStartMs).toISOString().slice(0, dayCharacters);
  const place = { table: 'keys', key: publicId, attribute: 'alert' } as const;
  const names = { workspace: String(item.workspace), key: String(item.name) };
  const mark = readShareMark(item, place.attribute);
  return [{ type: 'key_spend_limit', ...names, place, mark, spent, limit, period, scope: period ?? ever }];
}

/** Length of the day in an instant. */
const dayCharacters = 'YYYY-MM-DD'.length;

function budgetSpending(charged: ChargedCounter & { readonly kind: 'budget' }): WatchedSpending[] {
  const { counter, workspace, provider, item } = charged;
  const { table, key, balances, spentAttribute = '' } = counter;
  const place = { table, key, attribute: 'alert' };
  const limit = balances[0]?.limit ?? 0n;
  const spent = readAmount(item[spentAttribute]);
  const mark = readShareMark(item, place.attribute);
  return [{ type: 'byok_budget', workspace, provider, place, mark, spent, limit, period: null, scope: ever }];
}

async function creditSpendings(
  { hold, actual, item }: ChargedCounter & { readonly kind: 'credit' },
  { credit }: SpendingSources,
): Promise<WatchedSpending[]> {
  const { account } = hold;
  const { workspace, spendLimit } = account;
  const key = creditKey(workspace, 0);
  const isSpread = (account.shards ?? 1) > 1;
  if (isSpread && !passesPart(item, actual, spendLimit, account.shards ?? 1)) return [];
  const whole = isSpread ? await credit.show(account) : undefined;
  const first = whole?.item ?? item;
  const granted = whole?.granted ?? readAmount(item[creditAttributes.granted]);
  const spent = whole?.spent ?? readAmount(item[creditAttributes.spent]);
  const common = { workspace, period: null };
  const creditPlace = { table: 'ledger', key, attribute: 'alert' } as const;
  const limitPlace = { ...creditPlace, attribute: 'alert_limit' };
  return [
    {
      ...common,
      type: 'workspace_credit',
      place: creditPlace,
      ...sinceAddition(granted, spent, readShareMark(first, 'alert')),
    },
    ...(spendLimit === null
      ? []
      : [
          {
            ...common,
            type: 'workspace_spend_limit',
            place: limitPlace,
            mark: readShareMark(first, limitPlace.attribute),
            spent,
            limit: spendLimit,
            scope: ever,
          } as const,
        ]),
  ];
}

/**
 * Returns the spending since credit was last added, because the shares then begin again. The spending is counted from
 * the amount that was spent at the last alert before the addition.
 */
function sinceAddition(granted: PicoUsd, spent: PicoUsd, mark: ShareMark | undefined) {
  const scope = String(granted);
  const spentBefore = mark === undefined ? 0n : (mark.from ?? 0n) + mark.spent;
  const from = mark?.scope === scope ? (mark.from ?? 0n) : spentBefore;
  return { mark, scope, spent: spent - from, limit: granted - from, ...(from === 0n ? {} : { from }) };
}

/** All shards are read whenever a further fiftieth of a shard's part is spent. */
const looksPerPart = 50n;

function passesPart(item: Item, actual: PicoUsd, spendLimit: PicoUsd | null, shards: number): boolean {
  const spent = readAmount(item[creditAttributes.spent]);
  const creditPart = spent + readAmount(item[creditAttributes.balance]);
  const limitPart = spendLimit === null ? creditPart : spendLimit / BigInt(shards);
  const step = (limitPart < creditPart ? limitPart : creditPart) / looksPerPart;
  return step <= 0n || spent / step !== (spent - actual) / step;
}

/**
 * Returns the highest share that the spending passes, and did not pass at the last alert; undefined if there is none.
 */
export function passedShare(
  { spent, limit, scope, mark }: Pick<WatchedSpending, 'spent' | 'limit' | 'scope' | 'mark'>,
  at: readonly number[],
): number | undefined {
  if (limit <= 0n) return undefined;
  const alerted = mark?.scope === scope ? mark.spent : -1n;
  return at.findLast((percent) => {
    const share = limit * BigInt(percent);
    return spent * 100n >= share && share > alerted * 100n;
  });
}
