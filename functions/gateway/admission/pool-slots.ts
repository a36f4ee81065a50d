// The slots that a call has taken where no other of its writes could take them, and their return.
import type { SlotHold, SlotPools } from '../../../shared/accounting/slots/index.ts';

export function createPoolSlots(slotPools: SlotPools) {
  const slots: SlotHold[] = [];
  return {
    slots,
    /** False: there is none. */
    add(slot: SlotHold | undefined): boolean {
      if (slot !== undefined) slots.push(slot);
      return slot !== undefined;
    },
    /** Each once, however often it is called. */
    async giveBack(): Promise<void> {
      await Promise.all(slots.map((slot) => slotPools.giveBack(slot)));
    },
  };
}
