// What one request costs at the store: commands, units that DynamoDB bills, and how many times it waits, one after the
// other. Every command takes `delayMs` longer than it does, so that rounds show in the time as well.

import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';
import type { BenchPlan } from '../bench-plan.ts';
import { type Core, createCore, seed, type Timeline } from '../core/create-core.ts';
import { type CoreStore, startCoreStore } from '../core/start-core-store.ts';
import type { StoreCall } from '../core/watch-store.ts';
import { median, sumOf } from '../figures.ts';
import { newKeys } from '../gateway-file.ts';
import { countRounds } from './count-rounds.ts';
import { type RequestKind, requestKinds } from './request-kinds.ts';

export const delayMs = 5;

/** Of one request; medians over all of its kind. */
export interface RoundsRow {
  readonly kind: string;
  /** One after the other, before the provider is called or a stored answer is given. */
  readonly roundsBefore: number;
  readonly waitBeforeMs: number;
  /** Between the provider's last byte and the client's. */
  readonly roundsBeforeEnd: number;
  /** After the client's last byte. */
  readonly roundsAfter: number;
  readonly calls: number;
  /** Writes that a condition refused: they are billed too. */
  readonly refused: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Of a request with the usual number of calls: every command with its units, in the order of their ends. */
  readonly commands: readonly string[];
}

/** Longer than copies of the configuration live (5 s). */
const agedByMs = 6_000;
/** Into another second: the requests of a key are counted by the second. */
const aMomentMs = 1_500;

export async function measureRounds({ roundCalls }: Pick<BenchPlan, 'roundCalls'>): Promise<RoundsRow[]> {
  const coreStore = await startCoreStore();
  try {
    const keys = newKeys();
    await seed(createCore(coreStore.store), keys);
    const rows: RoundsRow[] = [];
    const time = aheadOf(systemClock);
    for (const kind of requestKinds(keys)) rows.push(await measureKind(coreStore, kind, roundCalls, time));
    return rows;
  } finally {
    await coreStore.stop();
  }
}

/** One for the whole section: what was written ahead of time is not of the future for the next kind. */
interface AheadClock {
  readonly clock: Clock;
  go(byMs: number): void;
}

function aheadOf(clock: Clock): AheadClock {
  let aheadMs = 0;
  return {
    clock: { ...clock, nowMs: () => clock.nowMs() + aheadMs },
    go(byMs) {
      aheadMs += byMs;
    },
  };
}

async function measureKind(
  { store, watch }: CoreStore,
  kind: RequestKind,
  count: number,
  { clock, go }: AheadClock,
): Promise<RoundsRow> {
  let core = createCore(store, clock);
  const other = createCore(store, clock);
  watch.delayMs = 0;
  await core.call(kind.request(count));
  await core.call(kind.request(count + 1));
  const seen: Seen[] = [];
  for (let number = 0; number < count; number += 1) {
    watch.delayMs = 0;
    if (kind.before === 'cold') core = createCore(store, clock);
    if (kind.before === 'stale') go(agedByMs);
    if (kind.before === 'other') {
      go(aMomentMs);
      await other.call(kind.request(number));
    }
    watch.delayMs = delayMs;
    seen.push(await observe(core, watch, kind.request(number)));
  }
  return toRow(kind.name, seen);
}

interface Seen {
  readonly times: Timeline;
  readonly calls: readonly StoreCall[];
}

async function observe(
  core: Core,
  watch: CoreStore['watch'],
  request: ReturnType<RequestKind['request']>,
): Promise<Seen> {
  watch.clear();
  const times = await core.call(request);
  return { times, calls: [...watch.calls] };
}

function toRow(kind: string, seen: readonly Seen[]): RoundsRow {
  const each = (measure: (one: Seen) => number): number => median(seen.map(measure));
  const usualCalls = each(({ calls }) => calls.length);
  const between = ({ calls }: Seen, fromMs: number, untilMs: number) =>
    countRounds(calls.filter(({ startedAtMs }) => startedAtMs >= fromMs && startedAtMs < untilMs));
  const answeredAtMs = ({ calledAtMs, clientEndAtMs }: Timeline) => calledAtMs ?? clientEndAtMs;
  return {
    kind,
    roundsBefore: each((one) => between(one, Number.NEGATIVE_INFINITY, answeredAtMs(one.times))),
    waitBeforeMs: each(({ times }) => answeredAtMs(times) - times.startedAtMs),
    roundsBeforeEnd: each((one) => between(one, one.times.upstreamEndedAtMs ?? Infinity, one.times.clientEndAtMs)),
    roundsAfter: each((one) => between(one, one.times.clientEndAtMs, Number.POSITIVE_INFINITY)),
    calls: usualCalls,
    refused: each(({ calls }) => calls.filter(({ isRefused }) => isRefused).length),
    writeUnits: each(({ calls }) => sumOf(calls.map(({ writeUnits }) => writeUnits))),
    readUnits: each(({ calls }) => sumOf(calls.map(({ readUnits }) => readUnits))),
    commands: (seen.find(({ calls }) => calls.length === usualCalls)?.calls ?? []).map(describe),
  };
}

const describe = ({ what, writeUnits, readUnits, isRefused }: StoreCall): string =>
  `${what} ${writeUnits > 0 ? `${writeUnits} W` : `${readUnits} R`}${isRefused ? ' refused' : ''}`;
