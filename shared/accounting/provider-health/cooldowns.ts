// Providers that limited a call, or failed two, wait at the end of every plan for a while. What instances learn of them
// is shared: one item that every instance reads at most every few seconds, beside the reads a request makes anyway.
// Losing it costs nothing but a slower first try, so no failure of the store is ever felt.
//
//   cooling_until <provider> <model>    written once per cooling, by the instance that begins it
//   failed_at <provider> <model>        the last failure of a provider that did not cool: the next one, of another call
//                                       and within 30 s, begins a cooling, on whatever instance
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../foundation/time/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';

/** What is cooled: one model of one provider. A limit on one model says nothing about the others. */
export interface CooledEntry {
  readonly provider: string;
  readonly model: string;
}

export interface ReportedFailure {
  /** Unique to the call: the failures of one call count once. */
  readonly callId: string;
  readonly isRateLimited: boolean;
  /** As the provider named it. */
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

const itemKey = 'COOLDOWNS';
const refreshAfterMs = 5_000;
/** Contract 6. */
const cooldownMs = 10_000;
const failuresWithinMs = 30_000;
/** A provider that asks for more is asked again all the same: it moved to the end, it was not switched off. */
const cooldownMaxMs = 600_000;
/** Entries an instance remembers. Only failing ones are remembered at all. */
const entriesMax = 1_000;
/** The item is deleted when every cooling is long over. */
const itemLifeSeconds = 3_600;
/** Attributes that are over, of one write. */
const forgottenPerWriteMax = 20;

const untilPrefix = 'cooling_until ';
const failedPrefix = 'failed_at ';

interface LastFailure {
  readonly callId: string;
  readonly atMs: number;
  readonly coolMs: number;
}

export function createCooldowns({ store, clock }: { readonly store: Store; readonly clock: Clock }): Cooldowns {
  const untilMs = new LRUCache<string, number>({ max: entriesMax });
  const failures = new LRUCache<string, LastFailure>({ max: entriesMax });
  /** What the others do not know yet. */
  const newCoolings = new Set<string>();
  const newFailures = new Set<string>();
  let item: Item = {};
  let askedAtMs = Number.NEGATIVE_INFINITY;

  const coolingUntil = (name: string): number => untilMs.get(name) ?? 0;
  const isCooling = (name: string): boolean => coolingUntil(name) > clock.nowMs();

  function remember(seen: Item | undefined): void {
    item = seen ?? {};
    for (const [attribute, value] of Object.entries(item)) {
      if (!attribute.startsWith(untilPrefix)) continue;
      const [name, until] = [attribute.slice(untilPrefix.length), Number(value)];
      // What has passed must not crowd out what has not.
      if (until > Math.max(clock.nowMs(), coolingUntil(name))) untilMs.set(name, until);
    }
  }

  function cool(name: string, until: number): void {
    if (until <= coolingUntil(name)) return;
    untilMs.set(name, until);
    newCoolings.add(name);
    newFailures.delete(name);
  }

  async function write(attribute: string, value: number, returnOld: boolean): Promise<Item | undefined> {
    const nowMs = clock.nowMs();
    const over = Object.entries(item)
      .filter(([name, at]) => name !== attribute && isOver(name, at, nowMs))
      .slice(0, forgottenPerWriteMax);
    const names = Object.fromEntries(over.map(([name], index) => [`#over${index}`, name]));
    const values = Object.fromEntries(over.map(([, at], index) => [`:over${index}`, at]));
    const forget = over.length === 0 ? '' : ` REMOVE ${Object.keys(names).join(', ')}`;
    const result = await store.update({
      table: 'limits',
      key: itemKey,
      expression: `SET #name = :value, expires_at_epoch_seconds = :expires${forget}`,
      condition: [
        '(attribute_not_exists(#name) OR #name < :value)',
        // One that was written anew since stays.
        ...over.map((_each, index) => `(attribute_not_exists(#over${index}) OR #over${index} <= :over${index})`),
      ].join(' AND '),
      names: { '#name': attribute, ...names },
      values: { ':value': value, ':expires': Math.ceil(nowMs / 1_000) + itemLifeSeconds, ...values },
      returnOld,
      repeatable: true,
    });
    // Refused: the item as it stands tells what is newer.
    if (result.kind === 'refused' || !returnOld) remember(result.item);
    return result.item;
  }

  async function sendCooling(name: string): Promise<void> {
    await write(untilPrefix + name, coolingUntil(name), false);
  }

  /** Where another instance has noted a failure lately, the two make a cooling. */
  async function sendFailure(name: string, { atMs, coolMs }: LastFailure): Promise<void> {
    const former = await write(failedPrefix + name, atMs, true);
    remember(former);
    const formerAtMs = Number(former?.[failedPrefix + name] ?? Number.NEGATIVE_INFINITY);
    if (isCooling(name) || Math.abs(atMs - formerAtMs) > failuresWithinMs) return;
    cool(name, atMs + coolMs);
    newCoolings.delete(name);
    await sendCooling(name);
  }

  return {
    isCooling: (entry) => isCooling(nameOf(entry)),

    async refresh() {
      if (clock.nowMs() - askedAtMs < refreshAfterMs) return;
      askedAtMs = clock.nowMs();
      // What this instance knows itself is enough until the next time.
      await store.get('limits', itemKey).then(remember, () => {});
    },

    report(entry, { callId, isRateLimited, retryAfterMs = 0 }) {
      const [name, nowMs] = [nameOf(entry), clock.nowMs()];
      const coolMs = Math.min(retryAfterMs || cooldownMs, cooldownMaxMs);
      const last = failures.get(name);
      if (last?.callId !== callId) failures.set(name, { callId, atMs: nowMs, coolMs });
      // Written once per cooling: what fails meanwhile makes it longer only where it names a longer time.
      if (isCooling(name) && retryAfterMs === 0) return;
      const isSecond = last !== undefined && last.callId !== callId && nowMs - last.atMs <= failuresWithinMs;
      if (isRateLimited || isSecond) cool(name, nowMs + coolMs);
      else if (last?.callId !== callId) newFailures.add(name);
    },

    async flush() {
      const coolings = [...newCoolings];
      const failed = [...newFailures];
      newCoolings.clear();
      newFailures.clear();
      const sendings = [
        ...coolings.map(sendCooling),
        ...failed.map(async (name) => {
          const failure = failures.get(name);
          if (failure !== undefined) await sendFailure(name, failure);
        }),
      ];
      // The others will learn of it themselves.
      await Promise.allSettled(sendings);
    },
  };
}

const nameOf = ({ provider, model }: CooledEntry): string => `${provider} ${model}`;

function isOver(attribute: string, value: unknown, nowMs: number): boolean {
  if (attribute.startsWith(untilPrefix)) return Number(value) <= nowMs;
  return attribute.startsWith(failedPrefix) && Number(value) + failuresWithinMs < nowMs;
}
