import { beforeEach, describe, expect, it } from '#jest';
import {
  type CatalogueDocument,
  type CataloguePointer,
  createCatalogueReader,
} from '../../../shared/configuration/catalogue/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { providerOf } from '../../support/planning.ts';

const staleMaxMs = 3_600_000;

const documentOf = ({ version, disabledProviders }: CataloguePointer): CatalogueDocument => ({
  service: { function_execution: 'enabled', function_concurrency: null, queue_ms: Number(version) },
  providers: [providerOf('acme', { status: disabledProviders.includes('acme') ? 'disabled' : 'enabled' })],
  models: [],
});

let nowMs = 0;
const clock = { nowMs: () => nowMs, after: () => () => {} };
let stored: string | undefined;
let disabled: readonly string[] = [];
let isDown = false;
let calls: string[] = [];

const catalogues = {
  readPointer: async () => {
    calls.push('pointer');
    if (isDown) throw new StoreUnavailable('down');
    return stored === undefined ? undefined : { version: stored, disabledProviders: disabled };
  },
  readDocument: async (pointer: CataloguePointer) => {
    calls.push('body');
    if (isDown) throw new StoreUnavailable('down');
    return documentOf(pointer);
  },
};

beforeEach(() => {
  nowMs = 1_000_000;
  stored = '1';
  disabled = [];
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
    expect(calls).toEqual(['pointer', 'body']);
    nowMs += 1;
    await catalogue.current();
    expect(calls).toEqual(['pointer', 'body', 'pointer']);
    stored = '2';
    nowMs += configFreshMs;
    const changed = await catalogue.current();
    expect([changed.version, changed.service.queue_ms]).toEqual(['2', 2]);
    expect(calls).toEqual(['pointer', 'body', 'pointer', 'pointer', 'body']);
  });

  it('learns with the one read of the pointer that a provider was disabled, and that it was enabled again', async () => {
    const catalogue = reader();
    const statusOf = async () => (await catalogue.current()).providers.get('acme')?.status;
    expect(await statusOf()).toBe('enabled');
    disabled = ['acme'];
    nowMs += configFreshMs;
    expect(await statusOf()).toBe('disabled');
    disabled = [];
    nowMs += configFreshMs;
    expect(await statusOf()).toBe('enabled');
    expect(calls).toEqual(['pointer', 'body', 'pointer', 'body', 'pointer', 'body']);
  });

  it('is refreshed once for any number of callers', async () => {
    const catalogue = reader();
    const answers = await Promise.all(Array.from({ length: 20 }, () => catalogue.current()));
    expect(calls).toEqual(['pointer', 'body']);
    expect(new Set(answers).size).toBe(1);
  });

  it('is served on while the store is down, which is not asked on every request, and not without end', async () => {
    const catalogue = reader();
    const first = await catalogue.current();
    isDown = true;
    nowMs += configFreshMs;
    expect(await catalogue.current()).toBe(first);
    expect(await catalogue.current()).toBe(first);
    expect(calls).toEqual(['pointer', 'body', 'pointer']);
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
