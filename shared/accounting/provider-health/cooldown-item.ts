// Defines the item through which instances share provider failures:
//
//   cooling_until <provider> <model>            for all workspaces; written once per cooldown, by the instance that
//                                               begins it
//   failure_of <workspace> <provider> <model>   { failed_at, cooling_until, limited }: the last failed call of one
//                                               workspace, how long that workspace waits because of its own calls
//                                               (0: it does not), and whether the provider had limited that call
//   unreached <provider>                        { reason, at_ms }: why it was not reached the last time
//   alert_of <provider>                         the mark of the last alert about it, which `alerts` writes
//
// Every write removes expired attributes, so that the item stays as small as the current failures.
import type { Clock } from '../../foundation/time/index.ts';
import {
  absent,
  and,
  applyChanges,
  atMost,
  type Condition,
  equals,
  type Item,
  or,
  type Store,
} from '../../storage/store/index.ts';
import { windowMs } from './layout.ts';

/** The last failure of a workspace at one entry. */
export interface FailureMark {
  readonly workspace: string;
  readonly failedAtMs: number;
  /** End of the entry's cooldown for this workspace; 0 if there is none. */
  readonly coolingUntilMs: number;
  /** True if the provider had limited that call. */
  readonly isRateLimited: boolean;
}

/** The reason why a provider was not reached, in one word. */
export interface UnreachedMark {
  readonly reason: string;
  readonly atMs: number;
}

interface NamedMark extends FailureMark {
  /** Names of provider and model. */
  readonly name: string;
}

interface CooldownItem {
  read(): Promise<void>;
  /** Returns the cooldowns for all workspaces, as of the last read or write, expired ones included. */
  coolings(): [name: string, untilMs: number][];
  /** Returns the marks as of the last read or write, expired ones included. */
  marks(): NamedMark[];
  /** Returns the value of an attribute, as of the last read or write. */
  noted(attribute: string): unknown;
  /** Writes a cooldown; of two ends the later stays. */
  writeCooling(name: string, untilMs: number): Promise<void>;
  /** Returns the marks by provider, as of the last read or write, expired ones included. */
  unreached(): [provider: string, mark: UnreachedMark][];
  writeUnreached(provider: string, mark: UnreachedMark): Promise<void>;
  /** Writes the mark, and returns the entry's marks before this write. */
  writeMark(mark: NamedMark): Promise<FailureMark[]>;
}

/** Longest time between two failed calls that together begin a cooldown. */
export const failuresWithinMs = 30_000;

export const cooldownItem = {
  table: 'limits',
  key: 'COOLDOWNS',
  /** Prefix of attributes with the mark of an alert. */
  markPrefix: 'alert_of ',
  /** Lifetime from the last write on, which is longer than any cooldown, and than most failures of a provider. */
  lifeSeconds: 604_800,
} as const;
/** Maximum number of attributes that one write removes, because an expression may have 4 KB. */
const removedPerWriteMax = 20;

const untilPrefix = 'cooling_until ';
const markPrefix = 'failure_of ';
const unreachedPrefix = 'unreached ';

/** A stored value, which is an end, a failure of a workspace, or the reason why a provider was not reached. */
type Value =
  | number
  | { readonly failed_at: number; readonly cooling_until: number; readonly limited: boolean }
  | { readonly reason: string; readonly at_ms: number };

export function createCooldownItem({ store, clock }: { readonly store: Store; readonly clock: Clock }): CooldownItem {
  let item: Item = {};

  /** Writes a value. Returns the item before the write, or the current item if it has a later value. */
  async function write(attribute: string, value: Value): Promise<Item> {
    const nowMs = clock.nowMs();
    const over = Object.entries(item).filter(([name, seen]) => name !== attribute && isOver(name, seen, nowMs));
    const removed = over.slice(0, removedPerWriteMax);
    const result = await send(attribute, value, removed);
    // The write may have been refused because another instance has rewritten an attribute that is to be removed.
    const last = result.kind === 'written' || removed.length === 0 ? result : await send(attribute, value, []);
    const before = last.item ?? {};
    item = last.kind === 'written' ? applyChanges(before, last.changes) : before;
    return before;
  }

  async function send(attribute: string, value: Value, removed: readonly (readonly [string, unknown])[]) {
    const { table, key, lifeSeconds } = cooldownItem;
    const expiresAtEpochSeconds = Math.ceil(clock.nowMs() / 1_000) + lifeSeconds;
    const changes = {
      set: { [attribute]: value, expires_at_epoch_seconds: expiresAtEpochSeconds },
      remove: removed.map(([name]) => name),
    };
    const areAsSeen = removed.map(([name, seen]) => or(absent(name), equals(name, seen)));
    const condition = and(isNoLater(attribute, value), ...areAsSeen);
    const update = { table, key, changes, condition, returnOld: true, repeatable: true } as const;
    return { ...(await store.update(update)), changes };
  }

  return {
    async read() {
      item = (await store.get(cooldownItem.table, cooldownItem.key)) ?? {};
    },
    noted: (attribute) => item[attribute],
    coolings: () =>
      Object.entries(item)
        .filter(([attribute]) => attribute.startsWith(untilPrefix))
        .map(([attribute, until]) => [attribute.slice(untilPrefix.length), Number(until)]),
    marks: () => marksIn(item),
    async writeCooling(name, untilMs) {
      await write(untilPrefix + name, untilMs);
    },
    unreached: () =>
      Object.entries(item).flatMap(([attribute, value]): [string, UnreachedMark][] => {
        if (!attribute.startsWith(unreachedPrefix)) return [];
        const { reason, at_ms } = value as Record<string, unknown>;
        return [[attribute.slice(unreachedPrefix.length), { reason: String(reason), atMs: Number(at_ms) }]];
      }),
    async writeUnreached(provider, { reason, atMs }) {
      await write(unreachedPrefix + provider, { reason, at_ms: atMs });
    },
    async writeMark({ workspace, name, failedAtMs, coolingUntilMs, isRateLimited }) {
      const value = { failed_at: failedAtMs, cooling_until: coolingUntilMs, limited: isRateLimited };
      return marksIn(await write(`${markPrefix}${workspace} ${name}`, value)).filter((mark) => mark.name === name);
    },
  };
}

const marksIn = (item: Item): NamedMark[] =>
  Object.entries(item).flatMap(([attribute, value]) => {
    if (!attribute.startsWith(markPrefix)) return [];
    // The ids of workspaces contain no spaces.
    const end = attribute.indexOf(' ', markPrefix.length);
    const { failed_at, cooling_until, limited } = value as Record<string, unknown>;
    return {
      workspace: attribute.slice(markPrefix.length, end),
      name: attribute.slice(end + 1),
      failedAtMs: Number(failed_at),
      coolingUntilMs: Number(cooling_until),
      isRateLimited: limited === true,
    };
  });

/** Requires that the stored value does not end later. */
function isNoLater(attribute: string, value: Value): Condition {
  if (typeof value === 'number') return or(absent(attribute), atMost(attribute, value));
  if ('at_ms' in value) return or(absent(attribute), atMost([attribute, 'at_ms'], value.at_ms));
  const { failed_at, cooling_until } = value;
  const isLast = and(atMost([attribute, 'failed_at'], failed_at), atMost([attribute, 'cooling_until'], cooling_until));
  return or(absent(attribute), isLast);
}

/** Lifetime of the mark, which is as long as the statistics count its failures. */
export const unreachedLifeMs = 2 * windowMs;

/** Time for which a provider that recovered and failed again causes no alert. */
export const alertQuietMs = 300_000;

function isOver(attribute: string, value: unknown, nowMs: number): boolean {
  if (attribute.startsWith(cooldownItem.markPrefix)) {
    const { state, at_ms } = value as Record<string, unknown>;
    return Number(at_ms) + (state === 'back' ? alertQuietMs : cooldownItem.lifeSeconds * 1_000) <= nowMs;
  }
  if (attribute.startsWith(unreachedPrefix)) {
    return Number((value as Record<string, unknown>).at_ms) + unreachedLifeMs <= nowMs;
  }
  if (attribute.startsWith(untilPrefix)) return Number(value) <= nowMs;
  if (!attribute.startsWith(markPrefix)) return false;
  const { failed_at, cooling_until } = value as Record<string, unknown>;
  return Number(cooling_until) <= nowMs && Number(failed_at) + failuresWithinMs < nowMs;
}
