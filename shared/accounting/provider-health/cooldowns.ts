// Providers that limited a call, or failed two, wait at the end of every plan for a while (contract 6). What instances
// learn of them is shared through one item. Losing it costs nothing but a slower first try, so no failure of the store
// is ever felt.
import { type Cache, createCache } from '../../foundation/cache/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { Store } from '../../storage/store/index.ts';
import { createCooldownItem, failuresWithinMs } from './cooldown-item.ts';

/** What is cooled: one model of one provider. A limit on one model says nothing about the others. */
export interface CooledEntry {
  readonly provider: string;
  readonly model: string;
}

export interface ReportedFailure {
  /** Unique to the call of the client: the failures of one call count once. */
  readonly callId: string;
  readonly isRateLimited: boolean;
  /** As the provider named it; 0 or left out: it named none. */
  readonly retryAfterMs?: number | undefined;
}

export interface Cooldowns {
  /** Whether the entry cools now, as far as this instance knows. */
  isCooling(entry: CooledEntry): boolean;
  /** Asks the store what others reported, where that was long ago. Never rejects. */
  refresh(): Promise<void>;
  /** Of overlapping cooldowns the longest counts. Does no I/O. */
  report(entry: CooledEntry, failure: ReportedFailure): void;
  /** Tells the others what was reported here. Never rejects. */
  flush(): Promise<void>;
}

const refreshAfterMs = 5_000;
/** Contract 6. */
const cooldownMs = 10_000;
/** A provider that asks for more is asked again all the same: it moved to the end, it was not switched off. */
const cooldownMaxMs = 600_000;
/** Entries an instance remembers. Only failing ones are remembered at all. */
const entriesMax = 1_000;

interface LastFailure {
  readonly callId: string;
  readonly atMs: number;
  /** How long the entry cools if this failure turns out to be the second of two. */
  readonly coolMs: number;
}

export function createCooldowns({ store, clock }: { readonly store: Store; readonly clock: Clock }): Cooldowns {
  const shared = createCooldownItem({ store, clock });
  const untilMs: Cache<number> = createCache({ sizeMax: entriesMax });
  const failures: Cache<LastFailure> = createCache({ sizeMax: entriesMax });
  /** What the others do not know yet. */
  const newCoolings = new Set<string>();
  const newFailures = new Set<string>();
  let askedAtMs = Number.NEGATIVE_INFINITY;

  const isCooling = (name: string): boolean => (untilMs.get(name) ?? 0) > clock.nowMs();

  function learn(name: string, until: number): void {
    // What has passed must not crowd out what has not.
    if (until > Math.max(clock.nowMs(), untilMs.get(name) ?? 0)) untilMs.set(name, until);
  }

  function learnAll(): void {
    for (const [name, until] of shared.coolings()) learn(name, until);
  }

  /** Once per cooling: what is reported while the entry cools can make it longer here, and is not written. */
  function cool(name: string, until: number): void {
    const isUnderWay = isCooling(name);
    learn(name, until);
    if (isUnderWay) return;
    newCoolings.add(name);
    newFailures.delete(name);
  }

  async function sendCooling(name: string): Promise<void> {
    await shared.writeCooling(name, untilMs.get(name) ?? 0);
    learnAll();
  }

  /** Where another instance has noted a failure lately, the two begin a cooling. */
  async function sendFailure(name: string): Promise<void> {
    const failure = failures.get(name);
    if (failure === undefined) return;
    const otherAtMs = await shared.writeFailure(name, failure.atMs);
    learnAll();
    if (otherAtMs === undefined || Math.abs(failure.atMs - otherAtMs) > failuresWithinMs || isCooling(name)) return;
    learn(name, failure.atMs + failure.coolMs);
    await sendCooling(name);
  }

  return {
    isCooling: (entry) => isCooling(nameOf(entry)),

    async refresh() {
      if (clock.nowMs() - askedAtMs < refreshAfterMs) return;
      askedAtMs = clock.nowMs();
      // What this instance knows itself is enough until the next time.
      await shared.read().then(learnAll, () => {});
    },

    report(entry, { callId, isRateLimited, retryAfterMs = 0 }) {
      const [name, nowMs] = [nameOf(entry), clock.nowMs()];
      const coolMs = Math.min(retryAfterMs || cooldownMs, cooldownMaxMs);
      const last = failures.get(name);
      const isSameCall = last?.callId === callId;
      const isSecond = last !== undefined && !isSameCall && nowMs - last.atMs <= failuresWithinMs;
      if (!isSameCall) failures.set(name, { callId, atMs: nowMs, coolMs });
      // Failures of calls that were under way when the cooling began make it no longer; a named time does.
      if (isCooling(name) && retryAfterMs === 0) return;
      if (isRateLimited || isSecond) cool(name, nowMs + coolMs);
      else if (!isSameCall) newFailures.add(name);
    },

    async flush() {
      const sendings = [...[...newCoolings].map(sendCooling), ...[...newFailures].map(sendFailure)];
      newCoolings.clear();
      newFailures.clear();
      // The others will find out for themselves.
      await Promise.allSettled(sendings);
    },
  };
}

const nameOf = ({ provider, model }: CooledEntry): string => `${provider} ${model}`;
