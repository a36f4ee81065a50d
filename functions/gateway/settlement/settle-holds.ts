// Ends each reservation of a call once. Money is settled at the real cost, tokens at the real use, and slots in the
// write that settles the money. If few slots are free, slots are released before the last byte, otherwise after it. A
// reservation that cannot be ended by the deadline expires. If the store has transactions, the sums that records add up
// to change in one transaction with the call's record: the spend of its key (limited or not), of its workspace and of
// the budgets of its connections. A slot that other calls wait for is then released before the last byte, and its money
// later. Tokens and slots of pools are not sums of records: they are written next to the transaction, and a process
// that dies leaves them to expire. Claims, stored answers and the cache were written before the client got the end, or
// cost nothing to lose.
import type { ChargedCounter } from '../../../shared/accounting/alerts/index.ts';
import { creditCounter } from '../../../shared/accounting/credit/index.ts';
import {
  type Counter,
  keySlots,
  type SettlementOptions,
  type SettlementOutcome,
} from '../../../shared/accounting/holds/index.ts';
import { type Deadline, startDeadline, waitAtMost } from '../../../shared/foundation/time/index.ts';
import { type Item, openTransaction, retryWrite, type StoreTransaction } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, ServedCall } from '../stages.ts';

/** Maximum time for which a slow store may delay the end of an answer. */
const earlySettlementMaxMs = 1_000;
/** Options while the client waits for its last byte. */
const awaited = { isAwaited: true };
/** Options once the client has its answer. */
const unawaited = { isAwaited: false };

export interface CallHolds {
  /** Settles tokens and slots before the last byte; undefined if the call has neither. `settle` repeats what failed. */
  readonly settleEarly: ServedCall['settleEarly'];
  /**
   * Writes one transaction with the record if the store has transactions. Otherwise it settles each reservation on its
   * own, writes no record, and throws the first failure after each was tried.
   */
  settleMoney(deadline: Deadline, record: CallRecordWrite): Promise<void>;
  /**
   * Rejects with the first failure, after each reservation of the kind was tried. Undefined if the call has none of the
   * kind.
   */
  settle(kind: 'tokens' | 'slots', deadline: Deadline): Promise<void> | undefined;
  /** Counters that were charged so far, if the gateway sends alerts. */
  readonly charged: readonly ChargedCounter[];
}

export interface CallRecordWrite {
  write(transaction: StoreTransaction): Promise<void>;
  /** Resolves to true if the record is in the store, for example after a try whose response was lost. */
  isWritten(): Promise<boolean>;
}

interface Held {
  readonly kind: 'money' | 'tokens' | 'slots';
  /** Counter of the slot, if the reservation has a slot. */
  readonly slotsIn: Counter | undefined;
  readonly end: End;
  /** Releases the slot before `end` settles the amount. Absent if the reservation has no slot, or only a slot. */
  readonly releaseSlot?: End;
  /** Names the charge for alerts. Absent if no alert is about this charge. */
  readonly chargedAs?: ((item: Item) => ChargedCounter) | undefined;
}

type End = (options?: SettlementOptions) => Promise<SettlementOutcome | undefined>;

export function openCallHolds(deps: GatewayDependencies, call: AdmittedCall): CallHolds {
  const { clock, counters } = deps;
  const { transact } = deps.store;
  const { held, charged } = openHeld(deps, call);
  /** The release of slots before their money, while the release is in progress. */
  let releasing: Promise<void> | undefined;
  const endAll = (some: readonly OpenHeld[], deadline: Deadline, options?: SettlementOptions) =>
    Promise.allSettled(some.map(({ end }) => retryWrite(clock, () => end(options), { deadline })));

  async function settleEarly(): Promise<void> {
    const missed = held.filter(
      // A call uses only a part of the tokens that it reserved, and its client's next call may need the rest.
      ({ kind, slotsIn }) => kind === 'tokens' || (slotsIn !== undefined && !counters.hasSpareSlots(slotsIn)),
    );
    if (missed.length === 0) return;
    const deadline = startDeadline(clock, clock.nowMs(), earlySettlementMaxMs);
    const whole = transact === undefined ? missed : missed.filter(({ releaseSlot }) => releaseSlot === undefined);
    if (transact !== undefined && whole.length < missed.length) {
      const release = () =>
        inOneTransaction(transact, (transaction) => missed.map((one) => one.releaseSlot?.({ transaction })));
      // The settlement of the money releases the slots that this step could not release.
      releasing = retryWrite(clock, release, { deadline }).catch(() => {});
    }
    const ended = Promise.all([endAll(whole, deadline, awaited), releasing]);
    await waitAtMost(clock, earlySettlementMaxMs, ended, () => undefined);
  }

  async function settleAll(some: readonly OpenHeld[], deadline: Deadline): Promise<void> {
    const ended = await endAll(some, deadline, unawaited);
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  function settleMoney(deadline: Deadline, record: CallRecordWrite): Promise<void> {
    const money = held.filter(({ kind }) => kind === 'money');
    if (transact === undefined) return settleAll(money, deadline);
    const settle = () => settleWithRecord({ clock, transact }, money, deadline, record);
    // The settlement depends on whether a slot is still held.
    return releasing === undefined ? settle() : releasing.then(settle);
  }

  return {
    charged,
    settleEarly: held.some(({ kind, slotsIn }) => kind === 'tokens' || slotsIn !== undefined) ? settleEarly : undefined,
    settleMoney,
    settle(kind, deadline) {
      const some = held.filter((one) => one.kind === kind);
      return some.length === 0 ? undefined : settleAll(some, deadline);
    },
  };
}

type Transact = NonNullable<GatewayDependencies['store']['transact']>;

function settleWithRecord(
  { clock, transact }: { readonly clock: GatewayDependencies['clock']; readonly transact: Transact },
  money: readonly OpenHeld[],
  deadline: Deadline,
  record: CallRecordWrite,
): Promise<void> {
  const writeAll = () =>
    inOneTransaction(transact, (transaction) => [
      ...money.map(({ end }) => end({ transaction })),
      record.write(transaction),
    ]);
  let tries = 0;
  const write = () => {
    tries += 1;
    if (tries === 1) return writeAll();
    // If the response to a try was lost, the record shows whether the transaction was made.
    return record.isWritten().then((isWritten) => (isWritten ? undefined : writeAll()));
  };
  return retryWrite(clock, write, { deadline });
}

/** Runs `write` as one transaction; `write` adds all of its writes before it returns. */
function inOneTransaction(
  transact: Transact,
  write: (transaction: StoreTransaction) => readonly (Promise<unknown> | undefined)[],
): Promise<unknown> {
  const transaction = openTransaction(transact);
  const written = Promise.all(write(transaction));
  transaction.commit();
  return written;
}

/** A reservation whose methods each end something once, and report the outcome. */
interface OpenHeld extends Pick<Held, 'kind' | 'slotsIn'> {
  readonly end: (options?: SettlementOptions) => Promise<void>;
  readonly releaseSlot: ((options?: SettlementOptions) => Promise<void>) | undefined;
}

function openHeld(deps: GatewayDependencies, call: AdmittedCall) {
  let isLate = false;
  const charged: ChargedCounter[] = [];
  // Alerts are decided by the item as the charge leaves it.
  const needsItem = call.planned.identified.catalogue.service.alerts != null;
  const held = heldBy(deps, call).map(({ kind, slotsIn, end, releaseSlot, chargedAs }): OpenHeld => {
    let isSlotReleased = false;
    return {
      kind,
      slotsIn,
      end: idempotentOnce(
        (options) =>
          end({
            ...options,
            needsItem: needsItem && chargedAs !== undefined,
            part: isSlotReleased ? 'amount' : undefined,
          }),
        (outcome) => {
          if (outcome?.kind !== 'settled') return;
          if (outcome.wasLate && !isLate) logLate(deps, call);
          isLate ||= outcome.wasLate;
          if (needsItem && chargedAs !== undefined) charged.push(chargedAs(outcome.item));
        },
      ),
      releaseSlot:
        releaseSlot &&
        idempotentOnce(
          (options) => releaseSlot({ ...options, part: 'slot' }),
          () => {
            isSlotReleased = true;
          },
        ),
    };
  });
  return { held, charged };
}

function logLate({ log }: GatewayDependencies, { planned }: AdmittedCall): void {
  const message =
    'The hold of a call had expired before the call was settled: its cost was charged although nothing was held for it any more.';
  log.error({ event: 'settlement_late', message, correlation_id: planned.identified.parsed.scope.correlationId });
}

function heldBy(
  { counters, credit, limiter, slotPools }: GatewayDependencies,
  { bill, reservations, planned, key, owner }: AdmittedCall,
): readonly Held[] {
  const { workspace } = planned.identified;
  const { keyHold, creditHold, budgetHolds = [], tokenPermits = [], slots = [] } = reservations;
  const owed = () => bill.totalOf('workspace');
  const charged = { publicId: String(key.pk), owner, known: key };
  const heldKey: Held =
    keyHold === undefined
      ? {
          kind: 'money',
          slotsIn: undefined,
          end: unknownOutcome((options) => counters.chargeKey(charged, owed(), options)),
        }
      : {
          kind: 'money',
          slotsIn: keyHold.slot === true ? keySlots(keyHold.publicId, keyHold.slotsMax ?? null) : undefined,
          end: (options) => counters.settleKey(keyHold, owed(), options),
          releaseSlot: (options) => counters.settleKey(keyHold, 0n, options),
          chargedAs: (item) => ({ kind: 'key', publicId: keyHold.publicId, item }),
        };
  const heldCredit: Held | undefined = creditHold && {
    kind: 'money',
    slotsIn: creditHold.slot === true ? creditCounter(creditHold.account, creditHold.shard) : undefined,
    end: (options) => credit.settle(creditHold, owed(), options),
    releaseSlot: (options) =>
      counters.settle(creditCounter(creditHold.account, creditHold.shard), creditHold, 0n, options),
    chargedAs: (item) => ({ kind: 'credit', hold: creditHold, actual: owed(), item }),
  };
  const heldBudgets = budgetHolds.map((hold): Held => {
    const cost = () => bill.totalOf('client', hold.provider);
    return {
      kind: 'money',
      slotsIn: undefined,
      end: (options) => counters.settle(hold.counter, hold, cost(), options),
      chargedAs: (item) => ({ kind: 'budget', ...hold, workspace: workspace.id, item }),
    };
  });
  const usedTokens = () =>
    bill.charges.reduce((sum, { usage }) => sum + usage.promptTokens + usage.completionTokens, 0);
  const heldTokens = tokenPermits.map(
    (permit): Held => ({
      kind: 'tokens',
      slotsIn: undefined,
      end: unknownOutcome((options) => limiter.settle(permit, usedTokens(), options)),
    }),
  );
  const heldSlots = slots.map(
    (slot): Held => ({
      kind: 'slots',
      slotsIn: slot.counter,
      end: unknownOutcome((options) => slotPools.release(slot, options)),
    }),
  );
  return [heldKey, ...(heldCredit === undefined ? [] : [heldCredit]), ...heldBudgets, ...heldTokens, ...heldSlots];
}

const unknownOutcome =
  (task: (options?: SettlementOptions) => Promise<unknown>): End =>
  (options) =>
    task(options).then(() => undefined);

/** Runs the task once, however often the returned function is called. A failed task may be repeated. */
function idempotentOnce(task: End, ended: (outcome: Awaited<ReturnType<End>>) => void): OpenHeld['end'] {
  let done: Promise<void> | undefined;
  return (options) => {
    done ??= task(options).then(ended, (error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}
