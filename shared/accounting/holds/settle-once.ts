// Charges a call exactly once. An unanswered charge is retried with the same mark, so it counts once; all charges of
// the unanswered write are retried together, so that one check of the mark decides for all of them.
import { createCache } from '../../foundation/cache/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type Store, StoreUnavailable } from '../../storage/store/index.ts';
import type { ItemAddress, SeenItem } from './counter.ts';
import { planWrite } from './plan-write.ts';
import type { AfterCall, SettlementOutcome } from './requests.ts';
import { hasMark, type Mark, withMarks } from './settlement-mark.ts';

/** Time for retries from the first try on. Callers repeat a settlement within the 10 s of `finish`. */
const settlementRetryMs = 30_000;
/** Maximum writes. Each write after the first follows a write of another process. */
const writesMax = 10;
/** Time within which a reservation may be settled; a process may have been suspended. Calls run for minutes at most. */
const openHoldMaxMs = 86_400_000;
/**
 * Maximum number of remembered settlements whose unanswered write turned out to be made. Their callers may request them
 * once more.
 */
const resolvedMax = 1_000;

/** Returns the error of a contended item, which for the client is the same as a store that is down (try again soon). */
export const contentionError = () => new StoreUnavailable(new Error('other writes came first in every try'));

interface DoubtfulWrite {
  readonly mark: Mark;
  readonly settlements: readonly OwnedSettlement[];
  readonly retryUntilMs: number;
  retrying: Promise<void> | undefined;
}

interface OwnedSettlement {
  readonly owner: string;
  readonly settlement: AfterCall;
}

export interface SettleOnce {
  /** Allows a settlement of this owner from here on. */
  taken(address: ItemAddress, owner: string): void;
  /** Marks settlements whose write may have been made. */
  markUncertain(address: ItemAddress, mark: Mark, settlements: readonly OwnedSettlement[]): void;
  /** Settles. `write` makes the first try. */
  settle(
    address: ItemAddress & { readonly owner: string },
    settlement: AfterCall,
    write: (ended: WriteEnded) => Promise<SettlementOutcome>,
  ): Promise<SettlementOutcome>;
}

/** Called once, before the caller of the write continues. `isAnswered` is false if the write failed. */
export type WriteEnded = (isAnswered: boolean) => void;

const nameOf = ({ table, key }: ItemAddress, owner = ''): string => `${table} ${key} ${owner}`;

const goneOutcome = (): SettlementOutcome => ({ kind: 'gone' });

interface SettleOnceOptions {
  readonly store: Pick<Store, 'update'>;
  readonly clock: Clock;
}

/** Repeats a write under the mark of its first try. Only the try that arrives first counts. */
async function repeatWrite(
  { store, clock }: SettleOnceOptions,
  address: ItemAddress,
  { mark, settlements, retryUntilMs }: DoubtfulWrite,
): Promise<void> {
  if (clock.nowMs() > retryUntilMs) throw new Error('a settlement was repeated too late to count once');
  let seen: SeenItem | undefined;
  for (let tried = 0; tried < writesMax; tried += 1) {
    const { write } = planWrite([], settlements, seen, clock.nowMs());
    if (write === undefined) return;
    const markedWrite = withMarks(write.drafted, mark, undefined);
    const { kind, item = {} } = await store.update({ ...address, ...markedWrite, repeatable: true });
    if (kind === 'written' || hasMark(item, mark)) return;
    seen = { item, atMs: clock.nowMs() };
  }
  throw contentionError();
}

export function createSettleOnce({ store, clock }: SettleOnceOptions): SettleOnce {
  /** Reservations that were taken and not settled, a few for each running call, by the time they were taken. */
  const open = new Map<string, number>();
  const resolved = createCache<'open' | 'reported'>({ sizeMax: resolvedMax });
  const underWay = new Map<string, Promise<unknown>>();
  /** Unanswered writes, remembered for `settlementRetryMs`. */
  const doubtful = new Map<string, DoubtfulWrite>();

  async function resolve(address: ItemAddress, write: DoubtfulWrite): Promise<void> {
    await repeatWrite({ store, clock }, address, write);
    for (const { owner } of write.settlements) {
      doubtful.delete(nameOf(address, owner));
      open.delete(nameOf(address, owner));
      resolved.set(nameOf(address, owner), 'open');
    }
  }

  function settleNow(
    name: string,
    address: ItemAddress,
    write: (ended: WriteEnded) => Promise<SettlementOutcome>,
  ): Promise<SettlementOutcome> {
    const doubt = doubtful.get(name);
    let hasEnded = false;
    const settled =
      doubt === undefined
        ? write((isAnswered) => {
            hasEnded = true;
            if (isAnswered) open.delete(name);
            underWay.delete(name);
          })
        : settleAgain(name, address, doubt).finally(() => underWay.delete(name));
    if (!hasEnded) underWay.set(name, settled);
    return settled;
  }

  async function settleAgain(name: string, address: ItemAddress, doubt: DoubtfulWrite): Promise<SettlementOutcome> {
    doubt.retrying ??= resolve(address, doubt).finally(() => {
      doubt.retrying = undefined;
    });
    await doubt.retrying;
    return reportOnce(name);
  }

  /**
   * Reports an outcome once. One caller retries the whole unanswered write, and each other caller gets its outcome when
   * it calls again.
   */
  function reportOnce(name: string): SettlementOutcome {
    if (resolved.get(name) === 'reported') return { kind: 'gone' };
    resolved.set(name, 'reported');
    return { kind: 'settled', item: {}, wasLate: false };
  }

  return {
    taken(address, owner) {
      const nowMs = clock.nowMs();
      open.set(nameOf(address, owner), nowMs);
      for (const [name, takenAtMs] of open) {
        if (nowMs - takenAtMs < openHoldMaxMs) break;
        open.delete(name);
      }
    },

    markUncertain(address, mark, settlements) {
      const nowMs = clock.nowMs();
      for (const [name, { retryUntilMs }] of doubtful) if (retryUntilMs < nowMs) doubtful.delete(name);
      const write = { mark, settlements, retryUntilMs: nowMs + settlementRetryMs, retrying: undefined };
      for (const { owner } of settlements) doubtful.set(nameOf(address, owner), write);
    },

    settle(address, settlement, write) {
      const name = nameOf(address, address.owner);
      const running = underWay.get(name);
      if (running !== undefined) return running.then(goneOutcome);
      if (resolved.has(name)) return Promise.resolve(reportOnce(name));
      // A reservation that was not taken must not be removed from its bucket, which contains reservations of others.
      if (settlement.kind === 'settle' && !open.has(name)) return Promise.resolve(goneOutcome());
      return settleNow(name, address, write);
    },
  };
}
