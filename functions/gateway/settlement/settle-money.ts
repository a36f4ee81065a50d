// Every hold of a call ends at what the call really cost, exactly once, and its tokens count as they were used. What cannot be written now is tried again until
// the deadline; after that the hold comes back with its lease.
import type { SettlementOptions } from '../../../shared/accounting/holds/index.ts';
import type { Permit } from '../../../shared/accounting/limits/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import { retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall } from '../stages.ts';

/** Rejects with the first failure, after every hold was tried. */
export async function settleMoney(
  deps: GatewayDependencies,
  call: AdmittedCall,
  deadline: Deadline,
  options?: SettlementOptions,
): Promise<void> {
  const { counters, credit, clock, log } = deps;
  const { bill } = call;
  const { keyHold, creditHold, budgetHolds = [] } = call.holdings;
  const owed = bill.totalOf('workspace');
  const settlements = [
    keyHold && (() => counters.settleKey(keyHold, owed, options)),
    creditHold && (() => credit.settle(creditHold, owed, options)),
    ...budgetHolds.map((hold) => () => {
      return counters.settle(hold.counter, hold, bill.totalOf('client', hold.provider), options);
    }),
  ].filter((settlement) => settlement !== undefined);
  let wasLate = false;
  const settleOne = async (write: (typeof settlements)[number]) => {
    const outcome = await write();
    wasLate ||= outcome.kind === 'settled' && outcome.wasLate;
  };
  const settled = await Promise.allSettled(
    settlements.map((write) => retryWrite(clock, () => settleOne(write), { deadline })),
  );
  if (wasLate) {
    const message =
      'The hold of a call had expired before the call was settled: its cost was charged although nothing was held for it any more.';
    log.error({ event: 'settlement_late', message, correlation_id: call.scope.correlationId });
  }
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Corrects the counts to what the call has used. Undefined: it holds none. */
export function settleTokens(
  { limiter, clock }: GatewayDependencies,
  { bill, holdings: { tokenPermits } }: AdmittedCall,
  { deadline, isAwaited }: { readonly deadline: Deadline; readonly isAwaited: boolean },
): Promise<unknown> | undefined {
  if (tokenPermits === undefined) return undefined;
  const used = bill.charges.reduce((sum, { usage }) => sum + usage.promptTokens + usage.completionTokens, 0);
  const settle = (permit: Permit) => retryWrite(clock, () => limiter.settle(permit, used, { isAwaited }), { deadline });
  return Promise.all(tokenPermits.map(settle));
}
