import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import {
  type BlobStore,
  blobLifeMs,
  folderBlobs,
  memoryBlobs,
  packText,
  sweepHourly,
  tableBlobs,
  textBytesIn,
  unpackText,
} from '../../shared/storage/blobs/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const bytes = systemRandomness.bytes(100_000);
const places: readonly [string, () => BlobStore][] = [
  ['a folder', () => folderBlobs(join(temporaryFolder(), 'made', 'on-demand'))],
  ['memory', () => memoryBlobs()],
  ['a table', () => inOwnTable()],
];

/** Returns a store for blobs that has its own part of the table. */
function inOwnTable(): BlobStore {
  const blobs = tableBlobs(database.store, systemClock);
  const id = systemRandomness.uuid();
  const keyOf = (key: string) => (/^[\w-]{1,91}$/.test(key) ? `${id}-${key}` : key);
  return { put: (key, content) => blobs.put(keyOf(key), content), get: (key) => blobs.get(keyOf(key)) };
}

describe('blobs in a table', () => {
  it('may be as large as any answer that is stored, and are not there if a part is missing', async () => {
    const blobs = tableBlobs(database.store, systemClock);
    const large = systemRandomness.bytes(4 * 1024 * 1024 + 1);
    await blobs.put('large', large);
    expect(Buffer.from((await blobs.get('large')) ?? []).equals(large)).toBe(true);
    await database.store.delete('idempotency', 'BLOB#large#3');
    expect(await blobs.get('large')).toBeUndefined();
  });
});

describe.each(places)('blobs in %s', (_name, open) => {
  it('come back byte for byte, and nothing comes back under a key that was never used', async () => {
    const blobs = open();
    expect(await blobs.get('a')).toBeUndefined();
    await blobs.put('a', bytes);
    await blobs.put('empty', new Uint8Array());
    expect(Buffer.from((await blobs.get('a')) ?? []).equals(bytes)).toBe(true);
    expect((await blobs.get('empty'))?.byteLength).toBe(0);
    expect(await blobs.get('b')).toBeUndefined();
  });

  it('may be put again, by many at the same time', async () => {
    const blobs = open();
    await Promise.all(Array.from({ length: 10 }, () => blobs.put('a', bytes)));
    expect(Buffer.from((await blobs.get('a')) ?? []).equals(bytes)).toBe(true);
  });

  it('are not changed by a caller that uses its buffer again', async () => {
    const blobs = open();
    const buffer = Uint8Array.of(1, 2, 3);
    await blobs.put('a', buffer);
    buffer.fill(0);
    (await blobs.get('a'))?.fill(9);
    expect([...((await blobs.get('a')) ?? [])]).toEqual([1, 2, 3]);
  });

  it.each(['', '..', '../a', 'a/b', 'a\\b', 'a\0', 'ä', 'x'.repeat(129)])('take no key like %j', async (key) => {
    const blobs = open();
    await expect(blobs.put(key, bytes)).rejects.toThrow(RangeError);
    await expect(blobs.get(key)).rejects.toThrow(RangeError);
  });
});

describe('a folder of blobs', () => {
  it('keeps them for the next process, and for no other user of the machine', async () => {
    const folder = join(temporaryFolder(), 'blobs');
    await folderBlobs(folder).put('a', bytes);
    expect(Buffer.from((await folderBlobs(folder).get('a')) ?? []).equals(bytes)).toBe(true);
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(statSync(join(folder, 'a')).mode & 0o077).toBe(0);
  });

  it('holds no half of a blob after a put that failed', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'a'));
    await expect(folderBlobs(folder).put('a', bytes)).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('rejects when it cannot be read, instead of saying that a blob is not there', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'a'));
    await expect(folderBlobs(folder).get('a')).rejects.toThrow();
  });

  it('loses files whose time is over by the beginning of their name, and no other', async () => {
    const folder = temporaryFolder();
    const clock = manualClock();
    const blobs = folderBlobs(folder, { clock });
    const names = ['result-a', 'content-1d-a', 'content-30d-a', 'content-365d-a'];
    const lives = names.map((name): [string, number] => [name, blobLifeMs(name)]);
    expect(lives.map(([, lifeMs]) => lifeMs / 86_400_000)).toEqual([2, 1, 30, 365]);
    for (const [name, ageMs] of [
      ...lives.map(([name, lifeMs]): [string, number] => [`${name}-old`, lifeMs + 1000]),
      ...lives.map(([name, lifeMs]): [string, number] => [`${name}-young`, lifeMs - 1000]),
      ['content-365d-left.part', blobLifeMs('') + 1000],
    ] as const) {
      writeFileSync(join(folder, name), 'x');
      const at = new Date(clock.nowMs() - ageMs);
      utimesSync(join(folder, name), at, at);
    }
    await blobs.sweep?.();
    expect(readdirSync(folder).toSorted()).toEqual(names.map((name) => `${name}-young`).toSorted());
  });

  it('is swept at once and every hour until it is stopped, even if it is not there yet', async () => {
    const folder = join(temporaryFolder(), 'later');
    const clock = manualClock();
    const swept: number[] = [];
    const { sweep } = folderBlobs(folder, { clock });
    const sweepAndNote = async () => {
      swept.push(clock.nowMs());
      await sweep?.();
    };
    const stop = sweepHourly({ sweep: sweepAndNote }, clock);
    clock.advance(60 * 60 * 1000);
    clock.advance(60 * 60 * 1000);
    stop();
    clock.advance(60 * 60 * 1000);
    expect(swept).toHaveLength(3);
  });
});

describe('blobs in memory', () => {
  it('never take more than their bound, and the oldest go first', async () => {
    const blobs = memoryBlobs(100);
    for (const key of ['a', 'b', 'c']) await blobs.put(key, new Uint8Array(40));
    expect(await blobs.get('a')).toBeUndefined();
    expect((await blobs.get('b'))?.byteLength).toBe(40);
    await blobs.put('b', new Uint8Array(40));
    await blobs.put('d', new Uint8Array(40));
    expect(await blobs.get('c')).toBeUndefined();
    expect((await blobs.get('b'))?.byteLength).toBe(40);
    await expect(blobs.put('e', new Uint8Array(101))).rejects.toThrow(RangeError);
    expect((await blobs.get('d'))?.byteLength).toBe(40);
  });
});

describe('a packed text', () => {
  it.each(['', 'a', '{"ü":"🙂\\u0000"}', 'data: x\n\n'.repeat(10_000)])('comes back as it was', async (text) => {
    expect(await unpackText(await packText(text))).toBe(text);
  });

  it('leaves no bytes to collect when it was unpacked', async () => {
    const packed = await packText('x'.repeat(6_000_000));
    const growths: number[] = [];
    // The runtime may collect after one of them.
    for (let time = 0; time < 4; time += 1) {
      const formerBytes = process.memoryUsage().arrayBuffers;
      expect(await unpackText(packed)).toHaveLength(6_000_000);
      growths.push(process.memoryUsage().arrayBuffers - formerBytes);
    }
    expect(Math.max(...growths)).toBeLessThan(1_000_000);
  });

  it('that states a length of 4 GB gets a buffer of 64 MiB, and is damaged', async () => {
    const { bytes: packed } = await packText('hello');
    const damaged = Uint8Array.from(packed);
    damaged.fill(0xff, -4);
    const formerBytes = process.memoryUsage().arrayBuffers;
    const unpacking = unpackText({ bytes: damaged });
    const allocatedBytes = process.memoryUsage().arrayBuffers - formerBytes;
    expect(allocatedBytes).toBeGreaterThanOrEqual(64 * 1024 * 1024);
    expect(allocatedBytes).toBeLessThan(65 * 1024 * 1024);
    expect(await unpacking).toBeUndefined();
    expect(textBytesIn(damaged)).toBe(64 * 1024 * 1024);
  });

  it('is not believed once a bit has changed', async () => {
    const { bytes: packed, sha256 } = await packText('hello');
    const damaged = packed.map((byte, index) => (index === 12 ? byte ^ 1 : byte));
    expect(await unpackText({ bytes: damaged, sha256 })).toBeUndefined();
    expect(await unpackText({ bytes: packed.subarray(1), sha256 })).toBeUndefined();
  });
});
