// Ends each reservation of a call once: money at the real cost, tokens at the real use, slots by the write that settles
// the money beside them. Where few slots are free that is before the last byte, else after it. A reservation that
// cannot be ended by the deadline expires.
import type { ChargedCounter } from '../../../shared/accounting/alerts/index.ts';
import { creditCounter } from '../../../shared/accounting/credit/index.ts';
import {
  type Counter,
  keySlots,
  type SettlementOptions,
  type SettlementOutcome,
} from '../../../shared/accounting/holds/index.ts';
import { type Deadline, startDeadline, waitAtMost } from '../../../shared/foundation/time/index.ts';
import { type Item, retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall } from '../stages.ts';

/** A store that does not answer holds the end of no answer up for longer. */
const earlySettlementMaxMs = 1_000;
/** The client waits for its last byte. */
const awaited = { isAwaited: true };
/** The client has its answer. */
const unawaited = { isAwaited: false };

export interface CallHolds {
  /** Undefined when the call has neither slots nor tokens. `settle` repeats what failed. */
  readonly settleEarly: AdmittedCall['settleEarly'];
  /** Rejects with the first failure, after each of the kind was tried. Undefined where the call has none. */
  settle(kind: Held['kind'], deadline: Deadline): Promise<void> | undefined;
  /** Counters that were charged so far, where the gateway sends alerts. */
  readonly charged: readonly ChargedCounter[];
}

interface Held {
  readonly kind: 'money' | 'tokens' | 'slots';
  /** Counter of its slot, if it has one. */
  readonly slotsIn: Counter | undefined;
  readonly end: End;
  /** Names its charge for alerts. Absent: none is about it. */
  readonly chargedAs?: ((item: Item) => ChargedCounter) | undefined;
}

type End = (options?: SettlementOptions) => Promise<SettlementOutcome | undefined>;

export function openCallHolds(deps: GatewayDependencies, call: AdmittedCall): CallHolds {
  const { clock, counters, log } = deps;
  let wasLate = false;
  const charged: ChargedCounter[] = [];
  // Alerts are decided by the item behind the charge.
  const needsItem = call.catalogue.service.alerts != null;
  const held = heldBy(deps, call).map(({ end, chargedAs, ...one }) => ({
    ...one,
    end: idempotentOnce((options) =>
      end({ ...options, needsItem: needsItem && chargedAs !== undefined }).then((outcome) => {
        if (outcome?.kind !== 'settled') return;
        wasLate ||= outcome.wasLate;
        if (needsItem && chargedAs !== undefined) charged.push(chargedAs(outcome.item));
      }),
    ),
  }));
  const endAll = (some: typeof held, deadline: Deadline, options?: SettlementOptions) =>
    Promise.allSettled(some.map(({ end }) => retryWrite(clock, () => end(options), { deadline })));

  async function settleEarly(): Promise<void> {
    const missed = held.filter(
      // A call uses a part of the tokens it reserved: its client's next call may need the rest.
      ({ kind, slotsIn }) => kind === 'tokens' || (slotsIn !== undefined && !counters.hasSpareSlots(slotsIn)),
    );
    if (missed.length === 0) return;
    const ended = endAll(missed, startDeadline(clock, clock.nowMs(), earlySettlementMaxMs), awaited);
    await waitAtMost(clock, earlySettlementMaxMs, ended, () => undefined);
  }

  async function settleAll(some: typeof held, deadline: Deadline): Promise<void> {
    const ended = await endAll(some, deadline, unawaited);
    if (wasLate && some.some(({ kind }) => kind === 'money')) {
      const message =
        'The hold of a call had expired before the call was settled: its cost was charged although nothing was held for it any more.';
      log.error({ event: 'settlement_late', message, correlation_id: call.scope.correlationId });
    }
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  return {
    charged,
    settleEarly: held.some(({ kind, slotsIn }) => kind === 'tokens' || slotsIn !== undefined) ? settleEarly : undefined,
    settle(kind, deadline) {
      const some = held.filter((one) => one.kind === kind);
      return some.length === 0 ? undefined : settleAll(some, deadline);
    },
  };
}

function heldBy(
  { counters, credit, limiter, slotPools }: GatewayDependencies,
  { bill, holdings, workspace, key, owner }: AdmittedCall,
): readonly Held[] {
  const { keyHold, creditHold, budgetHolds = [], tokenPermits = [], slots = [] } = holdings;
  const owed = () => bill.totalOf('workspace');
  const charged = { publicId: String(key.pk), owner, known: key };
  const ofKey: Held =
    keyHold === undefined
      ? { kind: 'money', slotsIn: undefined, end: unknownOutcome(() => counters.chargeKey(charged, owed())) }
      : {
          kind: 'money',
          slotsIn: keyHold.slot === true ? keySlots(keyHold.publicId, keyHold.slotsMax ?? null) : undefined,
          end: (options) => counters.settleKey(keyHold, owed(), options),
          chargedAs: (item) => ({ of: 'key', publicId: keyHold.publicId, item }),
        };
  const ofCredit: Held | undefined = creditHold && {
    kind: 'money',
    slotsIn: creditHold.slot === true ? creditCounter(creditHold.account, creditHold.shard) : undefined,
    end: (options) => credit.settle(creditHold, owed(), options),
    chargedAs: (item) => ({ of: 'credit', hold: creditHold, actual: owed(), item }),
  };
  const ofBudgets = budgetHolds.map((hold): Held => {
    const cost = () => bill.totalOf('client', hold.provider);
    return {
      kind: 'money',
      slotsIn: undefined,
      end: (options) => counters.settle(hold.counter, hold, cost(), options),
      chargedAs: (item) => ({ of: 'budget', ...hold, workspace: workspace.id, item }),
    };
  });
  const usedTokens = () =>
    bill.charges.reduce((sum, { usage }) => sum + usage.promptTokens + usage.completionTokens, 0);
  const ofTokens = tokenPermits.map(
    (permit): Held => ({
      kind: 'tokens',
      slotsIn: undefined,
      end: unknownOutcome((options) => limiter.settle(permit, usedTokens(), options)),
    }),
  );
  const ofPools = slots.map(
    (slot): Held => ({
      kind: 'slots',
      slotsIn: slot.counter,
      end: unknownOutcome((options) => slotPools.release(slot, options)),
    }),
  );
  return [ofKey, ofCredit, ...ofBudgets, ...ofTokens, ...ofPools].filter((one) => one !== undefined);
}

const unknownOutcome =
  (task: (options?: SettlementOptions) => Promise<unknown>): End =>
  async (options) => {
    await task(options);
    return undefined;
  };

/** Done once, however often it is asked for; what failed may be repeated. */
function idempotentOnce(task: (options?: SettlementOptions) => Promise<void>): typeof task {
  let done: Promise<void> | undefined;
  return (options) => {
    done ??= task(options).catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}
