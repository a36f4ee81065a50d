// The key: active, under its requests per minute, and its spend limit covers the worst case. One write, or a read where
// the key has no limit; one more where its money is short, because a refused request counts like any other.
import {
  concurrencyOf,
  type Hold,
  type KeyAdmission,
  readKeySpending,
  successorOf,
} from '../../../shared/accounting/holds/index.ts';
import type { ApiKey } from '../../../shared/configuration/keys/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { admitKey, keyErrorOf } from './admit-key.ts';
import { keyConcurrencyError } from './concurrency.ts';
import { type Advise, insufficientMessage } from './money-message.ts';
import { type Reservation, type Reserved, refused } from './reservation.ts';
import { keyRefusal, slotRefusal, spendRefusal } from './reservation-rounds.ts';

export interface KeyReservationInput {
  readonly credential: ApiKey;
  readonly asksFunction: boolean;
  /** What would have been covered. */
  readonly advise: Advise;
  /** Of a key without a concurrency of its own. */
  readonly defaultConcurrency?: number | null;
}

/** The key as this call saw it last: the reservation of its money starts from there. */
export interface SeenKey {
  keyItem: Item;
}

/** `later`: what `reserveSpend` will hold. A key that cannot cover it as it is now refuses the call before others are asked. */
export const reserveKey = (
  deps: GatewayDependencies,
  input: KeyReservationInput,
  { hold, later }: { readonly hold?: Hold | undefined; readonly later?: Hold | undefined },
  seen: SeenKey,
): Reservation => ({
  rank: 'key',
  reserve: async () => {
    const admission = await askKey(deps, input, hold, seen);
    if (admission.kind === 'admitted' && later !== undefined && later.amount > 0n) {
      const available = availableOf(admission.item, deps.clock.nowMs());
      const needed = later.amount;
      if (available !== null && available < needed) return refuseSpend(deps, input, { needed, available });
    }
    const reserved = toReserved(deps, input, admission);
    const isUncounted = admission.kind === 'spend_limit' ? !admission.isCounted : admission.kind === 'concurrency';
    if (!isUncounted) return reserved;
    const counted = toReserved(deps, input, await askKey(deps, input, undefined, seen));
    return counted.resolution === undefined ? reserved : counted;
  },
});

/** Null: the key has no spend limit, or that of the key which replaced it. */
function availableOf(item: Item, nowMs: number): PicoUsd | null {
  if (successorOf(item) !== undefined) return null;
  const spending = readKeySpending(item, nowMs);
  return spending && spending.limit - spending.spent - spending.held;
}

/** The spend limit and the slot by themselves, for a call whose key was reserved without them. */
export const reserveSpend = (
  deps: GatewayDependencies,
  input: KeyReservationInput,
  hold: Hold | undefined,
  seen: SeenKey,
): Reservation | undefined =>
  hold && {
    rank: 'money',
    reserve: async () => {
      const { keyItem } = seen;
      const mayBeLimited = readKeySpending(keyItem, deps.clock.nowMs()) !== null || successorOf(keyItem) !== undefined;
      const isSpendLimited = hold.amount > 0n && mayBeLimited;
      if (!isSpendLimited && concurrencyOf(input, seen.keyItem) === null) return {};
      return toReserved(deps, input, await askKey(deps, input, hold, seen, false));
    },
  };

async function askKey(
  deps: GatewayDependencies,
  { credential: { publicId, secretSha256 }, defaultConcurrency }: KeyReservationInput,
  hold: Hold | undefined,
  seen: SeenKey,
  countsRequest = true,
): Promise<KeyAdmission> {
  const request = { publicId, secretSha256, known: seen.keyItem, hold, defaultConcurrency, countsRequest };
  const admission = await admitKey(deps, request);
  if (admission.kind !== 'unknown') seen.keyItem = admission.item;
  return admission;
}

function toReserved(deps: GatewayDependencies, input: KeyReservationInput, admission: KeyAdmission): Reserved {
  const error = keyErrorOf(admission, input.asksFunction);
  if (error !== undefined) return refuseKey(deps, input.credential, error);
  if (admission.kind === 'spend_limit') return refuseSpend(deps, input, admission);
  if (admission.kind === 'concurrency') {
    deps.recentRefusals.set(slotRefusal(input.credential.publicId), true);
    return refused('capacity', keyConcurrencyError(admission.concurrency));
  }
  const hold = admission.kind === 'admitted' ? admission.hold : undefined;
  if (hold === undefined) return {};
  return { holdings: { keyHold: hold }, release: () => deps.counters.settleKey(hold, 0n) };
}

function refuseKey({ recentRefusals }: GatewayDependencies, { publicId }: ApiKey, error: Error): Reserved {
  recentRefusals.set(keyRefusal(publicId), true);
  return refused('key', error);
}

function refuseSpend(
  { recentRefusals }: GatewayDependencies,
  { credential, asksFunction, advise }: KeyReservationInput,
  { needed, available }: Pick<Extract<KeyAdmission, { kind: 'spend_limit' }>, 'needed' | 'available'>,
): Reserved {
  recentRefusals.set(spendRefusal(credential.publicId), true);
  const message = insufficientMessage('the spend limit of the key', { needed, available, advise });
  return refused('money', fail(asksFunction ? 'spend_limit_exceeded' : 'PAYMENT_REQUIRED', { message }));
}
