// All shards of an account in one view.

import type { PicoUsd } from '../../foundation/money/index.ts';
import { type HeldAmount, readAmount, readHeld } from '../holds/index.ts';
import { type CreditAccount, creditAttributes, readBalance } from './credit-account.ts';
import type { Shard } from './credit-shards.ts';
import { readTransfer, type Transfer } from './transfer.ts';

export interface CreditSummary {
  /** All that was ever given. */
  readonly granted: PicoUsd;
  /** Credit that no hold and no cost has taken; negative where real costs went beyond it. */
  readonly available: PicoUsd;
  /** What is left under the spend limit; null where there is none. */
  readonly underSpendLimit: PicoUsd | null;
  readonly held: PicoUsd;
  readonly spent: PicoUsd;
  /** What is held, by the time it expires; what has expired too, until a request gives it back. */
  readonly holds: readonly HeldAmount[];
}

/** What is held at a moment. */
export interface HeldCredit {
  /** By calls that may still be running. */
  readonly running: PicoUsd;
  /** By calls that died: the next call of the workspace gives it back. */
  readonly expired: PicoUsd;
  /** Of those that may still be running, the end of the oldest, to five seconds. Undefined: there are none. */
  readonly firstEndMs: number | undefined;
}

export function heldAt({ holds }: Pick<CreditSummary, 'holds'>, nowMs: number): HeldCredit {
  const [running, expired] = [
    holds.filter((hold) => hold.expiresAtMs > nowMs),
    holds.filter((hold) => hold.expiresAtMs <= nowMs),
  ];
  const amountOf = (some: readonly HeldAmount[]) => sum(some.map(({ amount }) => amount));
  const ends = running.map(({ expiresAtMs }) => expiresAtMs);
  return {
    running: amountOf(running),
    expired: amountOf(expired),
    firstEndMs: ends.length === 0 ? undefined : Math.min(...ends),
  };
}

export function summarize(account: CreditAccount, shards: readonly Shard[]): CreditSummary {
  const balances = shards.map(({ index, item }) => readBalance(account, index, item));
  const moving = shards
    .flatMap(({ index, item }) => readTransfer(index, item) ?? [])
    .filter((t) => !hasArrived(t, shards));
  const holds = shards.flatMap(({ item }) => readHeld(item)).filter(({ amount }) => amount > 0n);
  const sumOf = (attribute: string) => sum(shards.map(({ item }) => readAmount(item[attribute])));
  return {
    granted: sumOf(creditAttributes.granted),
    available: sum([...balances, ...moving].map(({ credit }) => credit)),
    underSpendLimit:
      account.spendLimit === null ? null : sum([...balances, ...moving].map(({ headroom }) => headroom ?? 0n)),
    held: sum(holds.map(({ amount }) => amount)),
    spent: sumOf(creditAttributes.spent),
    holds,
  };
}

/** Added to its target, and not yet crossed out in its source. */
const hasArrived = ({ from, to, number }: Transfer, shards: readonly Shard[]): boolean =>
  Number(shards[to]?.item[`received#${from}`] ?? 0) >= number;

const sum = (amounts: readonly PicoUsd[]): PicoUsd => amounts.reduce((total, amount) => total + amount, 0n);
