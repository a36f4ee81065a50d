// Reserves a slot for a call that would write to its key only for a slot. The call first tries a slot of the pool that
// needs no write to the key, then a slot of the key together with a slot of the other pool.
import { type Hold, keySlots } from '../../../shared/accounting/holds/index.ts';
import type { SlotHold, SlotPool, SlotPools } from '../../../shared/accounting/slots/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { type KeylessLimits, keylessError, serviceError } from './concurrency.ts';
import { type Reservation, type ReservationResult, refusalResult } from './reservation.ts';
import { admitKey, keyErrorOf } from './reserve-key.ts';

interface RoundInputs {
  readonly holder: Pick<Hold, 'owner' | 'expiresAtMs'>;
  readonly limits: KeylessLimits;
}

export function reserveKeyless(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  { holder, limits }: RoundInputs,
): Reservation {
  const { slotPools, recentRefusals } = deps;
  const { credential, isFunctionCall } = call.parsed;
  const { publicId, secretSha256 } = credential;
  const { keyless, rest, keySlotsMax } = limits;
  const { slots, add, release } = createPoolSlots(slotPools);
  const take = async (pool: SlotPool): Promise<boolean> => add(await slotPools.take(pool, holder));

  /**
   * The slot has an owner of its own. If the key has got a spend limit meanwhile, the amount that it reserves is
   * settled separately.
   */
  const askKey = () =>
    admitKey(deps, {
      ...{ publicId, secretSha256, known: call.key, countsRequest: false, defaultConcurrency: keySlotsMax },
      hold: { ...holder, owner: `${holder.owner}-slot`, amount: 0n, slot: true },
    });

  async function reserve(): Promise<ReservationResult> {
    const wasFull = slotPools.wasFull(keyless);
    if (!wasFull && (await take(keyless))) return slot;
    const admission = await askKey();
    const error = keyErrorOf(admission, credential, isFunctionCall);
    if (error !== undefined) return refusalResult('key', error);
    if (admission.kind === 'concurrency') {
      // A key that has just reached its limit does not repeatedly try the slots that other keys need.
      const wasRefused = recentRefusals.has(publicId);
      if (wasFull && !wasRefused && (await take(keyless))) return slot;
      recentRefusals.set(publicId, true);
      return refusalResult('capacity', keylessError(limits));
    }
    const hold = admission.kind === 'admitted' ? admission.hold : undefined;
    if (hold !== undefined) add({ counter: keySlots(hold.publicId, hold.slotsMax ?? null), hold });
    if ((await take(rest)) || (await take(keyless))) return slot;
    return { ...refusalResult('capacity', serviceError(limits, call.parsed)), release };
  }
  const slot = { release, reservations: { slots } };
  return { rank: 'capacity', reserve, releaseUncertain: release };
}

export function createPoolSlots(slotPools: SlotPools) {
  const slots: SlotHold[] = [];
  return {
    slots,
    /** Returns false if no slot was free. */
    add(slot: SlotHold | undefined): boolean {
      if (slot !== undefined) slots.push(slot);
      return slot !== undefined;
    },
    /** Releases each slot once, however often it is called. */
    async release(): Promise<void> {
      await Promise.all(slots.map((slot) => slotPools.release(slot)));
    },
  };
}
