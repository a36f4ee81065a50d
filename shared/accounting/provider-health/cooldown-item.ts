// The item that tells instances of each other's failures:
//
//   cooling_until <provider> <model>    written once per cooling, by the instance that begins it
//   failed_at <provider> <model>        the last failure that began no cooling: the next one, of another call and within
//                                       30 s, begins one, on whatever instance
//
// Every write removes what is over, so that the item stays as small as what is going on.
import type { Clock } from '../../foundation/time/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';

export interface CooldownItem {
  read(): Promise<void>;
  /** As of the last read or write, those that are over included. */
  coolings(): [name: string, untilMs: number][];
  /** Keeps the later of two ends. */
  writeCooling(name: string, untilMs: number): Promise<void>;
  /** Gives when another call failed there before. Undefined: none that is known. */
  writeFailure(name: string, atMs: number): Promise<number | undefined>;
}

/** Contract 6: two calls that failed so close to each other begin a cooling. */
export const failuresWithinMs = 30_000;

const itemKey = 'COOLDOWNS';
/** From the last write on: longer than any cooling. */
const itemLifeSeconds = 3_600;
/** Attributes that one write removes. An expression may be 4 KB long. */
const removedPerWriteMax = 20;

const untilPrefix = 'cooling_until ';
const failedPrefix = 'failed_at ';

export function createCooldownItem({ store, clock }: { readonly store: Store; readonly clock: Clock }): CooldownItem {
  let item: Item = {};

  /** The item as it was before, or as it stands where it has something later. */
  async function write(attribute: string, value: number): Promise<Item> {
    const nowMs = clock.nowMs();
    const over = Object.entries(item).filter(([name, at]) => name !== attribute && isOver(name, at, nowMs));
    const removed = over.slice(0, removedPerWriteMax);
    const result = await send(attribute, value, removed);
    const isNewer = Number(result.item?.[attribute] ?? 0) >= value;
    // Refused for what was to be removed: another instance has written it anew.
    const last = result.kind === 'written' || isNewer ? result : await send(attribute, value, []);
    const before = last.item ?? {};
    const gone = last === result ? new Set(removed.map(([name]) => name)) : new Set();
    const kept = Object.entries(before).filter(([name]) => !gone.has(name));
    item = last.kind === 'written' ? { ...Object.fromEntries(kept), [attribute]: value } : before;
    return before;
  }

  function send(attribute: string, value: number, removed: readonly (readonly [string, unknown])[]) {
    const names = removed.map(([name], at): [string, string] => [`#over${at}`, name]);
    const values = removed.map(([, seen], at): [string, unknown] => [`:over${at}`, seen]);
    const isEarlier = '(attribute_not_exists(#name) OR #name < :value)';
    const isAsSeen = removed.map((_each, at) => `(attribute_not_exists(#over${at}) OR #over${at} = :over${at})`);
    const removal = removed.length === 0 ? '' : ` REMOVE ${names.map(([placeholder]) => placeholder).join(', ')}`;
    return store.update({
      table: 'limits',
      key: itemKey,
      expression: `SET #name = :value, expires_at_epoch_seconds = :expires${removal}`,
      condition: [isEarlier, ...isAsSeen].join(' AND '),
      names: { '#name': attribute, ...Object.fromEntries(names) },
      values: {
        ':value': value,
        ':expires': Math.ceil(clock.nowMs() / 1_000) + itemLifeSeconds,
        ...Object.fromEntries(values),
      },
      returnOld: true,
      repeatable: true,
    });
  }

  return {
    async read() {
      item = (await store.get('limits', itemKey)) ?? {};
    },
    coolings: () =>
      Object.entries(item)
        .filter(([name]) => name.startsWith(untilPrefix))
        .map(([name, until]) => [name.slice(untilPrefix.length), Number(until)]),
    async writeCooling(name, untilMs) {
      await write(untilPrefix + name, untilMs);
    },
    async writeFailure(name, atMs) {
      const former = (await write(failedPrefix + name, atMs))[failedPrefix + name];
      // A write whose answer was lost meets itself: that is one failure, not two.
      return former === undefined || former === atMs ? undefined : Number(former);
    },
  };
}

function isOver(attribute: string, value: unknown, nowMs: number): boolean {
  if (attribute.startsWith(untilPrefix)) return Number(value) <= nowMs;
  return attribute.startsWith(failedPrefix) && Number(value) + failuresWithinMs < nowMs;
}
