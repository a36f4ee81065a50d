// The key: active, under its requests per minute, and its spend limit covers the worst case. One write, or a read where
// the key has no limit; one more where its money is short, because a refused request counts like any other.
import {
  concurrencyOf,
  type Hold,
  type KeyAdmission,
  readKeySpending,
} from '../../../shared/accounting/holds/index.ts';
import type { ApiKey } from '../../../shared/configuration/keys/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { SeenKey } from '../stages.ts';
import { admitKey, keyErrorOf } from './admit-key.ts';
import { keyConcurrencyError } from './concurrency.ts';
import { type Advise, insufficientMessage } from './money-message.ts';
import { type Reservation, type Reserved, refused } from './reservation.ts';
import { keyRefusal, slotRefusal, spendRefusal } from './reservation-rounds.ts';

export interface KeyReservationInput {
  readonly credential: ApiKey;
  readonly key: SeenKey;
  readonly asksFunction: boolean;
  /** What would have been covered. */
  readonly advise: Advise;
  /** Of a key without a concurrency of its own. */
  readonly defaultConcurrency?: number | null;
  /** Asked with the key as it is now: what it may not call any more. */
  readonly refusePlan?: (() => GatewayError | undefined) | undefined;
}

/** `later`: what `reserveSpend` will hold. A key that cannot cover it as it is now refuses the call before others are asked. */
export const reserveKey = (
  deps: GatewayDependencies,
  input: KeyReservationInput,
  { hold, later }: { readonly hold?: Hold | undefined; readonly later?: Hold | undefined } = {},
): Reservation => ({
  rank: 'key',
  reserve: async () => {
    const admission = await askKey(deps, input, hold);
    const reserved = toReserved(deps, input, admission);
    if (reserved.resolution === undefined && later !== undefined && later.amount > 0n) {
      const available = availableOf(input.key.item, deps.clock.nowMs());
      const needed = later.amount;
      if (available !== null && available < needed) return refuseSpend(deps, input, { needed, available });
    }
    if (admission.kind !== 'spend_limit' && admission.kind !== 'concurrency') return reserved;
    const counted = toReserved(deps, input, await askKey(deps, input, undefined));
    return counted.resolution === undefined ? reserved : counted;
  },
});

/** Null: the key has no spend limit. */
function availableOf(item: Item, nowMs: number): PicoUsd | null {
  const spending = readKeySpending(item, nowMs);
  return spending && spending.limit - spending.spent - spending.held;
}

/** The spend limit and the slot by themselves, for a call whose key was reserved without them. */
export const reserveSpend = (
  deps: GatewayDependencies,
  input: KeyReservationInput,
  hold: Hold | undefined,
): Reservation | undefined =>
  hold && {
    rank: 'money',
    reserve: async () => {
      const { item } = input.key;
      const isSpendLimited = hold.amount > 0n && readKeySpending(item, deps.clock.nowMs()) !== null;
      if (!isSpendLimited && concurrencyOf(input, item) === null) return {};
      return toReserved(deps, input, await askKey(deps, input, hold, false));
    },
  };

async function askKey(
  deps: GatewayDependencies,
  { credential: { publicId, secretSha256 }, key, defaultConcurrency }: KeyReservationInput,
  hold: Hold | undefined,
  countsRequest = true,
): Promise<KeyAdmission> {
  const request = { publicId, secretSha256, known: key.item, hold, defaultConcurrency, countsRequest };
  const admission = await admitKey(deps, request);
  if (admission.kind !== 'unknown') key.item = admission.item;
  return admission;
}

function toReserved(deps: GatewayDependencies, input: KeyReservationInput, admission: KeyAdmission): Reserved {
  const error = keyErrorOf(admission, input.credential, input.asksFunction);
  if (error !== undefined) return refuseKey(deps, input.credential, error);
  const hold = admission.kind === 'admitted' ? admission.hold : undefined;
  const giveBack = hold && (() => deps.counters.settleKey(hold, 0n));
  const refusal = input.refusePlan?.();
  if (refusal !== undefined) return { ...refused('plan', refusal), giveBack };
  if (admission.kind === 'spend_limit') return refuseSpend(deps, input, admission);
  if (admission.kind === 'concurrency') {
    deps.recentRefusals.set(slotRefusal(input.credential.publicId), true);
    return refused('capacity', keyConcurrencyError(admission.concurrency));
  }
  return { holdings: { keyHold: hold }, giveBack };
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
