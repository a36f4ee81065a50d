// How holds move the balances of a counter.
import type { Counter, Hold } from './counter.ts';

/** The same amount on every balance: each of them limits the same holds. */
export const balanceChanges = ({ balances }: Counter, sign: '+' | '-', value: string): string[] =>
  balances.map((_balance, index) => `#balance${index} = if_not_exists(#balance${index}, :zero) ${sign} ${value}`);

export const balanceNames = ({ balances }: Counter): Record<string, string> =>
  Object.fromEntries(balances.map(({ attribute }, index) => [`#balance${index}`, attribute]));

export const sumOf = (holds: readonly Hold[]): bigint => holds.reduce((sum, { amount }) => sum + amount, 0n);
