import { beforeEach, describe, expect, it } from '@jest/globals';
import { type CatalogueDocument, createCatalogueReader } from '../../../shared/configuration/catalogue/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';

const staleMaxMs = 3_600_000;

const documentOf = (version: string): CatalogueDocument => ({
  service: { function_execution: 'enabled', function_concurrency: null, queue_ms: Number(version) },
  providers: [],
  models: [],
});

let nowMs = 0;
const clock = { nowMs: () => nowMs, after: () => () => {} };
let stored: string | undefined;
let isDown = false;
let calls: string[] = [];

const catalogues = {
  readVersion: async () => {
    calls.push('version');
    if (isDown) throw new StoreUnavailable('down');
    return stored;
  },
  readBody: async (version: string) => {
    calls.push('body');
    if (isDown) throw new StoreUnavailable('down');
    return documentOf(version);
  },
};

beforeEach(() => {
  nowMs = 1_000_000;
  stored = '1';
  isDown = false;
  calls = [];
});

const reader = () => createCatalogueReader({ catalogues, clock });

describe('the copy of an instance', () => {
  it('costs no I/O while it is fresh, one read after that, and the body only when it changed', async () => {
    const catalogue = reader();
    expect((await catalogue.current()).version).toBe('1');
    nowMs += configFreshMs - 1;
    await catalogue.current();
    expect(calls).toEqual(['version', 'body']);
    nowMs += 1;
    await catalogue.current();
    expect(calls).toEqual(['version', 'body', 'version']);
    stored = '2';
    nowMs += configFreshMs;
    const changed = await catalogue.current();
    expect([changed.version, changed.service.queue_ms]).toEqual(['2', 2]);
    expect(calls).toEqual(['version', 'body', 'version', 'version', 'body']);
  });

  it('is refreshed once for any number of callers', async () => {
    const catalogue = reader();
    const answers = await Promise.all(Array.from({ length: 20 }, () => catalogue.current()));
    expect(calls).toEqual(['version', 'body']);
    expect(new Set(answers).size).toBe(1);
  });

  it('is served on while the store is down, which is not asked on every request, and not without end', async () => {
    const catalogue = reader();
    const first = await catalogue.current();
    isDown = true;
    nowMs += configFreshMs;
    expect(await catalogue.current()).toBe(first);
    expect(await catalogue.current()).toBe(first);
    expect(calls).toEqual(['version', 'body', 'version']);
    nowMs += staleMaxMs;
    await expect(catalogue.current()).rejects.toBeInstanceOf(StoreUnavailable);
    isDown = false;
    expect(await catalogue.current()).toBe(first);
  });

  it('that does not exist yet is StoreUnavailable, and the next caller asks again', async () => {
    const catalogue = reader();
    isDown = true;
    await expect(catalogue.current()).rejects.toBeInstanceOf(StoreUnavailable);
    isDown = false;
    stored = undefined;
    await expect(catalogue.current()).rejects.toBeInstanceOf(StoreUnavailable);
    stored = '1';
    expect((await catalogue.current()).version).toBe('1');
  });
});
