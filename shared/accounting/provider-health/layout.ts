// Defines the places and names of the counts. Every key follows from the clock alone, so a rebuild knows its reads
// without a list. Attribute names are short hashes of ids, because the cost of a write depends on the item's size.
import { sha256Hex } from '../../foundation/ids/index.ts';
import type { Item } from '../../storage/store/index.ts';

/** Part of every key, so that instances with another layout, during a deployment, use other items. */
const layoutVersion = 1;

/**
 * Length of a window. The running window and the window before it are read, so the statistics cover the last 15 to 30
 * minutes.
 */
export const windowMs = 15 * 60_000;
const windowsRead = 2;
/**
 * Number of groups. Groups keep items small (a write costs one unit per KB of its item), shards keep their write rate
 * low: an item of 2 KB takes 500 writes a second, so a group takes 8,000 at most, each of which may be many calls.
 * Writes throttled above that are lost at random: medians and uptime stay true, the throughput reads too low. A rebuild
 * reads all items, and a small Lambda function spends about 3 ms on each, so a group that is written slowly has few
 * shards.
 */
const groupCount = 32;
export const shardsMin = 2;
export const shardsMax = 16;
/** Time after which a window is not read any more. */
export const windowLifeSeconds = 60 * 60;

export const windowOf = (nowMs: number): number => Math.floor(nowMs / windowMs);

export const countersKey = (window: number, group: number, shard: number): string =>
  `COUNTERS#${layoutVersion}#${window}#${group}#${shard}`;

export const snapshotKey = `SNAPSHOT#${layoutVersion}`;

interface CountersPlace {
  readonly window: number;
  readonly group: number;
  readonly shard: number;
}

/** Returns the places of the 128 current counters. A rebuild reads them and the shards that they name. */
export function countersPlaces(nowMs: number): CountersPlace[] {
  const windows = Array.from({ length: windowsRead }, (_, back) => windowOf(nowMs) - back);
  const groups = Array.from({ length: groupCount }, (_, group) => group);
  return windows.flatMap((window) => groups.flatMap((group) => shardsOf({ window, group }, 0, shardsMin)));
}

export const shardsOf = (of: Omit<CountersPlace, 'shard'>, from: number, to: number): CountersPlace[] =>
  Array.from({ length: to - from }, (_, index) => ({ ...of, shard: from + index }));

/** Attribute that counts the writes of an item. */
export const writesName = 'writes';
const shardsPrefix = 'shards ';

/**
 * Returns the attribute that says how many shards its group has. Each number has an attribute of its own, so that a
 * writer that knows of fewer shards removes no larger number.
 */
export const shardsName = (shards: number): string => shardsPrefix + shards;

export const readShards = (item: Item): number => {
  const shardCounts = Object.keys(item).map((name) =>
    name.startsWith(shardsPrefix) ? Number(name.slice(shardsPrefix.length)) : 0,
  );
  return Math.min(shardsMax, Math.max(shardsMin, ...shardCounts));
};

/** Returns how many minutes ago the oldest window that is read began. */
export const oldestWindowMinutes = (nowMs: number): number =>
  (nowMs - (windowOf(nowMs) - windowsRead + 1) * windowMs) / 60_000;

const modelNameLength = 6;
const providerNameLength = 3;

/**
 * Returns a name of 36 bits. In one of 100,000 gateways with a thousand models, two models share a name, and with it
 * their statistics.
 */
export const modelNameOf = (model: string): string => shortHash(model, modelNameLength);

/**
 * Returns the model's name followed by 18 bits of the provider, which only has to differ from the model's other
 * providers.
 */
export const candidateNameOf = (model: string, provider: string): string =>
  modelNameOf(model) + shortHash(provider, providerNameLength);

export const modelPartOf = (candidateName: string): string => candidateName.slice(0, modelNameLength);

export const groupOf = (model: string): number => Number.parseInt(sha256Hex(model).slice(-8), 16) % groupCount;

const shortHash = (id: string, length: number): string =>
  Buffer.from(sha256Hex(id), 'hex').toString('base64url').slice(0, length);

/** Counters of a candidate. Only `latency` and `firstToken` have buckets. */
export const counterKinds = {
  latency: 'l',
  firstToken: 't',
  failed: 'f',
  /** Counted in addition to `failed`. */
  refused: 'c',
  rateLimited: 'r',
  invalid: 'i',
} as const;
type CounterKind = keyof typeof counterKinds;

/** Returns the attribute of one counter, 10 or 12 characters. */
export const counterName = (candidateName: string, kind: CounterKind, bucket?: number): string =>
  candidateName + counterKinds[kind] + (bucket === undefined ? '' : String(bucket).padStart(2, '0'));

const counterSign = /^([\w-]{9})([ltfcri])(\d\d)?$/;

interface CounterAddress {
  readonly candidateName: string;
  readonly kind: string;
  readonly bucket: number;
}

/** Parses the result of counterName; undefined for the item's other attributes. */
export function readCounterName(attribute: string): CounterAddress | undefined {
  const [, candidateName, kind, bucket] = counterSign.exec(attribute) ?? [];
  return candidateName === undefined || kind === undefined
    ? undefined
    : { candidateName, kind, bucket: Number(bucket ?? 0) };
}
