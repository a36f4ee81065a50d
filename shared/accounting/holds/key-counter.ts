// The item of an API key as admission sees it: status and limits are written by the operator, the counters beside them
// by requests. A key is given no balance: its spend limit is configuration of the same item, and its balance is minus
// what it holds and has spent. So a changed limit counts from the next request on, and needs no other write.
import { type PicoUsd, parseUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import type { Counter } from './counter.ts';

export const keyAttributes = {
  secretSha256: 'secret_sha256',
  status: 'status',
  requestsPerMinute: 'requests_per_minute',
  spendLimitUsd: 'spend_limit_usd',
  expiresAtMs: 'expires_at_ms',
} as const;

export interface KeyLimits {
  readonly isActive: boolean;
  readonly requestsPerMinute: number | null;
  readonly spendLimitUsd: string | null;
}

export function readKeyLimits(item: Item): KeyLimits {
  return {
    isActive: item[keyAttributes.status] === 'active',
    requestsPerMinute: (item[keyAttributes.requestsPerMinute] ?? null) as number | null,
    spendLimitUsd: (item[keyAttributes.spendLimitUsd] ?? null) as string | null,
  };
}

/** `spendLimitUsd` null: spending is counted, and nothing limits it. */
export const keyCounter = (publicId: string, spendLimitUsd: string | null): Counter => ({
  table: 'keys',
  key: publicId,
  balances: [{ attribute: 'balance_pico_usd', limit: spendLimitUsd === null ? null : readLimit(spendLimitUsd) }],
  spentAttribute: 'spent_pico_usd',
});

function readLimit(spendLimitUsd: string): PicoUsd {
  const limit = parseUsd(spendLimitUsd);
  if (limit === undefined) throw new Error('the spend limit of a stored key is no amount');
  return limit;
}
