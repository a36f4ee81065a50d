// Reserves in the key. The key must be active and under its requests per minute, and its spend limit must cover the
// worst case. The reservation is one write, or a read if the key has no limit. If the key's money is short, another
// write follows, because a refused request counts like any other.
import {
  type Hold,
  type KeyAdmission,
  type KeyCount,
  type KeyRequest,
  type PaidKeyRequest,
  readKeySpending,
  secretOf,
} from '../../../shared/accounting/holds/index.ts';
import { type ApiKey, refuseEndedKey, refuseKey } from '../../../shared/configuration/keys/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ParsedCall } from '../stages.ts';
import { keyConcurrencyError } from './concurrency.ts';
import { type Advise, insufficientMessage } from './money-message.ts';
import { type Reservation, type ReservationResult, refusalResult } from './reservation.ts';

/** The parts of a call that its key needs. */
interface KeyedCall {
  readonly parsed: Pick<ParsedCall, 'credential' | 'isFunctionCall'>;
  readonly key: Item;
}

interface KeyTerms {
  /** Suggests an amount that the key would have covered. */
  readonly advise: Advise;
  /** Limit for a key that sets no concurrency itself. */
  readonly defaultConcurrency?: number | null;
}

export const reserveKey = (deps: GatewayDependencies, call: KeyedCall, terms: KeyTerms, hold?: Hold): Reservation => {
  const count = () =>
    admitKey(deps, requestOf(call, terms, undefined)).then((admission) => toReserved(deps, call, terms, admission));
  const reserved = (admission: KeyAdmission) => {
    remember(deps, call.parsed.credential, admission);
    const result = toReserved(deps, call, terms, admission);
    if (admission.kind !== 'spend_limit' && admission.kind !== 'concurrency') return result;
    return count().then((counted) => (counted.resolution === undefined ? result : counted));
  };
  return {
    rank: 'key',
    reserve: () => deps.counters.admitKey(requestOf(call, terms, hold)).then(reserved),
    // A call that is refused for its name counts as a request like any other.
    check: count,
  };
};

/** Returns true if the item, as it was last read, does not cover the amount. */
export function isShortOf(amount: PicoUsd, item: Item, nowMs: number): boolean {
  const { limit, spent, held } = readKeySpending(item, nowMs);
  return limit !== null && limit - spent - held < amount;
}

const requestOf = (
  { parsed: { credential }, key: known }: KeyedCall,
  { defaultConcurrency }: KeyTerms,
  hold: Hold | undefined,
): PaidKeyRequest => ({
  publicId: credential.publicId,
  secretSha256: credential.secretSha256,
  known,
  hold,
  defaultConcurrency,
});

function toReserved(
  deps: GatewayDependencies,
  call: KeyedCall,
  terms: KeyTerms,
  admission: KeyAdmission,
): ReservationResult {
  const key = admission.kind === 'unknown' ? undefined : admission.item;
  return { ...judge(deps, call, terms, admission), key };
}

function judge(
  deps: GatewayDependencies,
  call: KeyedCall,
  { advise }: KeyTerms,
  admission: KeyAdmission,
): ReservationResult {
  const { credential, isFunctionCall } = call.parsed;
  const error = keyErrorOf(admission, credential, isFunctionCall);
  if (error !== undefined) {
    deps.recentRefusals.set(credential.publicId, true);
    return refusalResult('key', error);
  }
  const hold = admission.kind === 'admitted' ? admission.hold : undefined;
  const release = hold && (() => deps.counters.settleKey(hold, 0n));
  if (admission.kind === 'spend_limit') return refuseSpend(deps, call, advise, admission);
  if (admission.kind === 'concurrency') {
    deps.recentRefusals.set(credential.publicId, true);
    return refusalResult('capacity', keyConcurrencyError(admission.concurrency));
  }
  return { reservations: { keyHold: hold }, release };
}

function refuseSpend(
  { recentRefusals }: GatewayDependencies,
  { parsed: { credential, isFunctionCall } }: KeyedCall,
  advise: Advise,
  { needed, available }: Pick<Extract<KeyAdmission, { kind: 'spend_limit' }>, 'needed' | 'available'>,
): ReservationResult {
  recentRefusals.set(credential.publicId, true);
  const message = insufficientMessage('the spend limit of the key', { needed, available, advise });
  return refusalResult('money', fail(isFunctionCall ? 'spend_limit_exceeded' : 'PAYMENT_REQUIRED', { message }));
}

export const admitKey = (deps: GatewayDependencies, request: PaidKeyRequest): Promise<KeyAdmission> =>
  deps.counters.admitKey(request).then((admission) => remember(deps, request, admission));

/** Counts a request that costs nothing. */
export const countKeyRequest = async (deps: GatewayDependencies, request: KeyRequest): Promise<KeyCount> =>
  remember(deps, request, await deps.counters.countKeyRequest(request));

function remember<Answer extends KeyAdmission | KeyCount>(
  { keyCache }: GatewayDependencies,
  { publicId }: Pick<KeyRequest, 'publicId'>,
  answer: Answer,
): Answer {
  if (answer.kind === 'unknown') keyCache.delete(publicId);
  else keyCache.set(publicId, answer.item);
  return answer;
}

/** Returns undefined if the key is valid and within its requests per minute, even if it lacks money or a slot. */
export function keyErrorOf(
  admission: KeyAdmission | KeyCount,
  { publicId }: Pick<ApiKey, 'publicId'>,
  isFunctionCall: boolean,
): GatewayError | undefined {
  switch (admission.kind) {
    case 'unknown':
      return refuseKey('unknown');
    case 'revoked':
      return refuseEndedKey(secretOf(admission.item, publicId), isFunctionCall);
    case 'rate_limited':
      return failRateLimit(admission.requestsPerMinute, Math.ceil(admission.retryAfterMs / 1_000));
    default:
      return undefined;
  }
}

function failRateLimit(requestsPerMinute: number, retryAfterSeconds: number): GatewayError {
  const message = `The key may make ${requestsPerMinute} requests a minute, and has made them; try again in ${retryAfterSeconds} s.`;
  return fail('api_key_rate_limit', { message, retryAfterSeconds });
}
