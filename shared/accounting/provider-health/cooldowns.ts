// Providers that failed or asked for patience wait at the end of every plan for a while. The memory is shared: one item
// that every instance reads at most every few seconds, beside the reads a request makes anyway. Losing it costs nothing
// but a slower first try, so no failure of the store is ever felt.

import type { Clock } from '../../foundation/time/index.ts';
import type { Store } from '../../storage/store/index.ts';

/** What is cooled: one model of one provider. A limit on one model says nothing about the others. */
export interface CooledEntry {
  readonly provider: string;
  readonly model: string;
}

export interface Cooldowns {
  /** Whether the entry cools now, as far as this instance knows. */
  isCooling(entry: CooledEntry): boolean;
  /** Asks the store what others reported, where that was long ago. Never rejects. */
  refresh(): Promise<void>;
  /** Cools an entry for so long. Of overlapping cooldowns the longest counts. Does no I/O. */
  report(entry: CooledEntry, forMs: number): void;
  /** Tells the others what was reported here. Never rejects. */
  flush(): Promise<void>;
}

const itemKey = 'COOLDOWNS';
const refreshAfterMs = 5_000;
/** A provider that asks for more is asked again all the same: it moved to the end, it was not switched off. */
const cooldownMaxMs = 600_000;
/** Entries an instance remembers. Only failing ones are remembered at all. */
const entriesMax = 1_000;

export function createCooldowns({ store, clock }: { readonly store: Store; readonly clock: Clock }): Cooldowns {
  const untilMs = new Map<string, number>();
  const unsent = new Map<string, number>();
  let askedAtMs = Number.NEGATIVE_INFINITY;

  const learn = (name: string, until: number) => {
    // The shared item remembers for good; here what has passed would crowd out what has not.
    if (until <= clock.nowMs()) return;
    const known = untilMs.get(name) ?? 0;
    untilMs.delete(name);
    untilMs.set(name, Math.max(until, known));
    const [oldest] = untilMs.keys();
    if (untilMs.size > entriesMax && oldest !== undefined) untilMs.delete(oldest);
  };

  return {
    isCooling: (entry) => (untilMs.get(nameOf(entry)) ?? 0) > clock.nowMs(),
    async refresh() {
      if (clock.nowMs() - askedAtMs < refreshAfterMs) return;
      askedAtMs = clock.nowMs();
      try {
        const item = await store.get('limits', itemKey);
        for (const [name, until] of Object.entries(item ?? {})) if (typeof until === 'number') learn(name, until);
      } catch {
        // What this instance knows itself is enough until the next time.
      }
    },
    report(entry, forMs) {
      const until = clock.nowMs() + Math.min(forMs, cooldownMaxMs);
      learn(nameOf(entry), until);
      unsent.set(nameOf(entry), until);
    },
    async flush() {
      const sending = [...unsent];
      unsent.clear();
      await Promise.all(sending.map(([name, until]) => send(store, name, until)));
    },
  };
}

const nameOf = ({ provider, model }: CooledEntry): string => `${provider} ${model}`;

/** max(existing, new) as a condition: an earlier report that arrives late shortens nothing. */
async function send(store: Store, name: string, until: number): Promise<void> {
  try {
    await store.update({
      table: 'limits',
      key: itemKey,
      expression: 'SET #name = :until',
      condition: 'attribute_not_exists(#name) OR #name < :until',
      names: { '#name': name },
      values: { ':until': until },
      repeatable: true,
    });
  } catch {
    // The others will find out for themselves.
  }
}
