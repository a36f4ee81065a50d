// Every hold of a call ends at what the call really cost, exactly once. What cannot be written now is tried again until
// the deadline; after that the hold comes back with its lease.
import { settleHold, settleKeyHold } from '../../../shared/accounting/holds/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import { retryWrite } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { AdmittedCall } from '../stages.ts';

/** Rejects with the first failure, after every hold was tried. */
export async function settleMoney(deps: ChatDependencies, call: AdmittedCall, deadline: Deadline): Promise<void> {
  const { store, credit, clock } = deps;
  const { bill, owner } = call;
  const { keyHold, creditHold, budgets } = call.holdings;
  const owed = bill.totalOf('workspace');
  const settlements = [
    keyHold && (() => settleKeyHold({ store, hold: keyHold, actual: owed, nowMs: clock.nowMs() })),
    creditHold && (() => credit.settle({ hold: creditHold, actual: owed, nowMs: clock.nowMs() })),
    ...(budgets?.holds ?? []).map(({ counter, provider, amount }) => () => {
      const actual = bill.totalOf('client', provider);
      return settleHold({ store, counter, owner, held: amount, actual, nowMs: clock.nowMs() });
    }),
  ].filter((settlement) => settlement !== undefined);
  const settled = await Promise.allSettled(settlements.map((write) => retryWrite(clock, write, { deadline })));
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
