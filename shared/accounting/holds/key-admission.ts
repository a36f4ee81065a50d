// Admits a request of an API key: one UpdateItem sees that the key is active, counts the request and takes its spend
// hold, so no limit is passed by requests that look at the same time. The order of the checks is the precedence of
// their errors (contract 5): unknown, revoked, requests per minute, money.
import { equalInConstantTime } from '../../foundation/ids/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { checkHold, type Hold, type SeenItem } from './counter.ts';
import type { ItemWriter } from './item-writer.ts';
import { balanceLimit, keyAttributes, keyCounter, openPeriod, readKeyLimits } from './key-limits.ts';
import type { Demand, Refusal } from './requests.ts';
import type { UpdateDraft } from './update-draft.ts';
import { requestsPerMinute } from './windows.ts';

export interface KeyAdmissionRequest {
  readonly publicId: string;
  /** A key with another secret is unknown, and nothing is counted. */
  readonly secretSha256: string;
  /** The item of an earlier answer for this key, however old: it saves the read, never decides. */
  readonly known?: Item | undefined;
  /** Default true. False where an earlier call has counted this request and only the hold is wanted. */
  readonly countsRequest?: boolean;
  readonly hold?: Hold | undefined;
}

/** A hold that was taken from a key: what its settlement needs. */
export interface KeyHold extends Hold {
  readonly publicId: string;
}

export type KeyAdmission =
  /** `hold` is undefined where none was asked for, or the key has no spend limit. */
  | { readonly kind: 'admitted'; readonly item: Item; readonly hold: KeyHold | undefined }
  /** No such key, or another secret. */
  | { readonly kind: 'unknown' }
  /** Or expired. */
  | { readonly kind: 'revoked'; readonly item: Item }
  | {
      readonly kind: 'rate_limited';
      readonly requestsPerMinute: number;
      readonly retryAfterMs: number;
      readonly item: Item;
    }
  | { readonly kind: 'spend_limit'; readonly needed: bigint; readonly available: bigint; readonly item: Item };

/** `bucket`: where the hold is counted. */
export async function admitKey(
  writer: ItemWriter,
  request: KeyAdmissionRequest,
  bucket: string | undefined,
): Promise<KeyAdmission> {
  const { publicId, known, hold } = request;
  if (hold !== undefined) checkHold(hold);
  const address = { table: 'keys', key: publicId, known, owner: hold?.owner } as const;
  const answer = await writer.reserve(address, {
    kind: 'reserve',
    assess: (seen, nowMs) => (seen === undefined ? 'look' : assess(request, bucket, seen, nowMs)),
  });
  switch (answer.kind) {
    case 'reserved': {
      const isHeld = hold !== undefined && readKeyLimits(answer.item, answer.atMs).spendLimitUsd !== null;
      return { kind: 'admitted', item: answer.item, hold: isHeld ? { ...hold, publicId } : undefined };
    }
    case 'refused':
      return answer.reason === 'unknown' ? { kind: 'unknown' } : { kind: 'revoked', item: answer.item };
    case 'limited':
      return {
        ...answer,
        kind: 'rate_limited',
        requestsPerMinute: Number(answer.item[keyAttributes.requestsPerMinute]),
      };
    case 'insufficient':
      return { ...answer, kind: 'spend_limit', needed: hold?.amount ?? 0n };
    default:
      throw new Error(`a key admission ended as ${answer.kind}`);
  }
}

function assess(
  { secretSha256, countsRequest = true, hold }: KeyAdmissionRequest,
  bucket: string | undefined,
  { item }: SeenItem,
  nowMs: number,
): Demand | Refusal<'unknown' | 'revoked'> {
  const secret = item[keyAttributes.secretSha256];
  // A key never changes its secret, so an old copy of the item answers this as well as a new one.
  if (!equalInConstantTime(String(secret), secretSha256)) return { reason: 'unknown', isFinal: secret !== undefined };
  const { isActive, requestsPerMinute: rpm } = readKeyLimits(item, nowMs);
  if (!isActive) return { reason: 'revoked', isFinal: false };
  const limit = balanceLimit(item, nowMs);
  const isHeld = hold !== undefined && bucket !== undefined && limit !== null;
  return {
    hold: isHeld ? { bucket, amount: hold.amount } : undefined,
    balances: keyCounter('', limit).balances,
    counts: countsRequest && rpm !== null ? [{ window: requestsPerMinute, amount: 1n, limit: BigInt(rpm) }] : [],
    prepare: (draft) => {
      requireAsSeen(draft, item, [
        keyAttributes.status,
        keyAttributes.expiresAtMs,
        ...(countsRequest ? [keyAttributes.requestsPerMinute] : []),
        ...(hold === undefined ? [] : [keyAttributes.spendLimitUsd, keyAttributes.spendLimitReset]),
      ]);
      if (isHeld) openPeriod(draft, item, nowMs);
    },
  };
}

/** The configuration that the write is made for still stands. */
function requireAsSeen(draft: UpdateDraft, item: Item, attributes: readonly string[]): void {
  for (const attribute of attributes) {
    const [name, value] = [draft.name(attribute), item[attribute]];
    if (value === undefined) draft.require(`attribute_not_exists(${name})`);
    else if (value === null) draft.require(`attribute_type(${name}, ${draft.value('NULL')})`);
    else draft.require(`${name} = ${draft.value(value)}`);
  }
}

/** A settlement opens the period of the spend limit like any other write. */
export const keySettlement = ({ publicId }: KeyHold, nowMs: () => number) => ({
  counter: keyCounter(publicId, null),
  prepare: (draft: UpdateDraft, item: Item) => openPeriod(draft, item, nowMs()),
});
