// The slots that a call has taken where no other of its writes could take them, and their return.
import type { SlotHold, SlotPools } from '../../../shared/accounting/slots/index.ts';
import type { HeldSlots } from '../stages.ts';

export function createPoolSlots(slotPools: SlotPools) {
  const taken: SlotHold[] = [];
  const slots: HeldSlots = {
    giveBack: untilDone(async (options) => {
      await Promise.all(taken.map((slot) => slotPools.giveBack(slot, options)));
    }),
    counters: () => taken.map(({ counter }) => counter),
  };
  return {
    slots,
    /** False: there is none. */
    add(slot: SlotHold | undefined): boolean {
      if (slot !== undefined) taken.push(slot);
      return slot !== undefined;
    },
  };
}

/** Done once, however often it is called; a call that failed may be repeated. */
function untilDone(task: HeldSlots['giveBack']): HeldSlots['giveBack'] {
  let isDone = false;
  return async (options) => {
    if (isDone) return;
    await task(options);
    isDone = true;
  };
}
