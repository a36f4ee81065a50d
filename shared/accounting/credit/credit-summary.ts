// Summarizes all shards of an account.

import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { type HeldAmount, readAmount, readHeldAmounts } from '../holds/index.ts';
import { type CreditAccount, creditAttributes, readBalance } from './credit-account.ts';
import type { Shard } from './credit-shards.ts';
import { readTransfer, type Transfer } from './transfer.ts';

/** The credit. While nothing moves between shards, granted = available + held + spent. */
export interface CreditSummary {
  /** Total that was ever granted. */
  readonly granted: PicoUsd;
  /** Credit that no running call and no cost has used, `expired` included; negative if real costs exceeded it. */
  readonly available: PicoUsd;
  /** Rest of the spend limit, `expired` included; null if there is no limit. */
  readonly underSpendLimit: PicoUsd | null;
  /** Reserved by calls that may still be running. */
  readonly held: PicoUsd;
  /** Expiry of the oldest reservation, to five seconds; undefined when nothing is reserved. */
  readonly firstEndMs: number | undefined;
  /** Reserved by calls that died. The next call that needs this credit, or that uses its shard, releases it. */
  readonly expired: PicoUsd;
  readonly spent: PicoUsd;
  /** Item of the first shard, which has marks of the whole account. */
  readonly item: Item;
}

export function summarize(account: CreditAccount, shards: readonly Shard[], nowMs: number): CreditSummary {
  const balances = shards.map(({ index, item }) => readBalance(account, index, item));
  const moving = shards
    .flatMap(({ index, item }) => readTransfer(index, item) ?? [])
    .filter((t) => !hasArrived(t, shards));
  const sumOf = (attribute: string) => sum(shards.map(({ item }) => readAmount(item[attribute])));
  const holds = shards.flatMap(({ item }) => readHeldAmounts(item)).filter(({ amount }) => amount > 0n);
  const running = holds.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
  const amountOf = (some: readonly HeldAmount[]) => sum(some.map(({ amount }) => amount));
  const expired = amountOf(holds.filter(({ expiresAtMs }) => expiresAtMs <= nowMs));
  return {
    granted: sumOf(creditAttributes.granted),
    available: sum([...balances, ...moving].map(({ credit }) => credit)) + expired,
    underSpendLimit:
      account.spendLimit === null
        ? null
        : sum([...balances, ...moving].map(({ headroom }) => headroom ?? 0n)) + expired,
    held: amountOf(running),
    firstEndMs: running.length === 0 ? undefined : Math.min(...running.map(({ expiresAtMs }) => expiresAtMs)),
    expired,
    spent: sumOf(creditAttributes.spent),
    item: shards[0]?.item ?? {},
  };
}

/** True for a transfer that was added to its target, and whose note is still in its source. */
const hasArrived = ({ from, to, number }: Transfer, shards: readonly Shard[]): boolean =>
  Number(shards[to]?.item[`received#${from}`] ?? 0) >= number;

const sum = (amounts: readonly PicoUsd[]): PicoUsd => amounts.reduce((total, amount) => total + amount, 0n);
