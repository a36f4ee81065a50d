// Admits a request of an API key: one UpdateItem sees that the key is active, counts the request in its window and
// takes its spend hold, so no limit is passed by requests that look at the same time. A key with nothing to count is
// only read. Settling ends the hold after the last byte.
import type { CallOptions, Item, Store } from '../../storage/store/index.ts';
import { checkHold, type Hold } from './counter.ts';
import { keyCounter } from './key-counter.ts';
import { type KeyAdmission, type KeyHold, planKeyAdmission } from './plan-key-admission.ts';
import { type SettleResult, settleHold } from './settle-hold.ts';
import { contended } from './take-hold.ts';
import { toUpdate } from './write-parts.ts';

/** A look, the write, and some that others came before: a new second, a changed limit, a hold given back. */
const triesMax = 10;

export interface KeyAdmissionRequest {
  readonly store: Store;
  readonly publicId: string;
  /** A key with another secret is unknown, and nothing is counted. */
  readonly secretSha256: string;
  readonly nowMs: number;
  /** The item of an earlier answer for this key, however old: it saves the read, never decides. */
  readonly known?: Item | undefined;
  /** Default true. False where an earlier call has counted this request and only the hold is wanted. */
  readonly countsRequest?: boolean;
  readonly hold?: Hold | undefined;
  readonly options?: CallOptions;
}

/**
 * One write for a known key with limits; a read more for one that is not known; a read alone for a key without limits.
 * One more write in the first request of a second that another instance counted in, and when a limit was changed.
 * Throws StoreUnavailable.
 */
export async function takeKeyAdmission(request: KeyAdmissionRequest): Promise<KeyAdmission> {
  const { store, publicId, options, hold, countsRequest = true } = request;
  if (hold !== undefined) checkHold(hold);
  const wish = { ...request, hold, countsRequest };
  let item = request.known;
  let isCurrent = false;
  for (let tried = 0; tried < triesMax; tried += 1) {
    if (item === undefined) {
      item = await store.get('keys', publicId, options);
      isCurrent = true;
    }
    if (item === undefined) return { kind: 'unknown' };
    const plan = planKeyAdmission(wish, item, isCurrent);
    if (plan.kind === 'answer') return plan.answer;
    if (plan.kind === 'look') {
      item = undefined;
      continue;
    }
    const result = await store.update(toUpdate('keys', publicId, plan.parts), options);
    if (result.item === undefined) return { kind: 'unknown' };
    if (result.kind === 'written' && plan.kind === 'admit') {
      return { kind: 'admitted', item: result.item, hold: plan.hold };
    }
    item = result.item;
    isCurrent = true;
  }
  throw contended();
}

export interface KeySettlement {
  readonly store: Store;
  readonly hold: KeyHold;
  readonly actual: bigint;
  readonly nowMs: number;
  readonly options?: CallOptions;
}

/** Exactly once: see `settleHold`. */
export const settleKeyHold = ({ hold, ...settlement }: KeySettlement): Promise<SettleResult> =>
  settleHold({ ...settlement, counter: keyCounter(hold.publicId, null), owner: hold.owner, held: hold.amount });
