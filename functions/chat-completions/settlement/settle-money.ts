// Every hold of a call ends at what the call really cost, exactly once: settling again after a lost answer finds the
// hold gone. What cannot be written now is tried again, and at last comes back with its lease.
import { settleHold, settleKeyHold } from '../../../shared/accounting/holds/index.ts';
import { untilDone } from '../admission/until-done.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { Claimed } from '../stages.ts';

export async function settleMoney(deps: ChatDependencies, call: Claimed): Promise<void> {
  const { store, credit, clock } = deps;
  const { keyHold, creditHold, otherHolds, bill, owner } = call;
  const owed = bill.totalOf('workspace');
  const settlements: (() => Promise<unknown>)[] = [];
  if (keyHold !== undefined) {
    settlements.push(() => settleKeyHold({ store, hold: keyHold, actual: owed, nowMs: clock.nowMs() }));
  }
  if (creditHold !== undefined) {
    settlements.push(() => credit.settle({ hold: creditHold, actual: owed, nowMs: clock.nowMs() }));
  }
  for (const { counter, payer, amount } of otherHolds) {
    const actual = payer === undefined ? 0n : bill.totalOf('client', payer.provider);
    settlements.push(() => settleHold({ store, counter, owner, held: amount, actual, nowMs: clock.nowMs() }));
  }
  const settled = await Promise.allSettled(settlements.map((settle) => untilDone(clock, settle)));
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
