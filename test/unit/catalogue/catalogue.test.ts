import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import {
  type CatalogueDocument,
  type CatalogueStore,
  createCatalogueReader,
  createCatalogueStore,
} from '../../../shared/configuration/catalogue/index.ts';
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { providerOf } from '../../support/planning.ts';
import { startTestStore, type TestStore } from '../../support/test-store.ts';

describe('the store', () => {
  const nowMs = 1_800_000_000_000;
  const sevenDaysSeconds = 604_800;

  let database: TestStore;
  beforeAll(async () => {
    database = await startTestStore();
  });
  afterAll(() => database.stop());

  const documentWith = (queueMs: number, displayName = 'Acme'): CatalogueDocument => ({
    service: { function_execution: 'enabled', function_concurrency: null, queue_ms: queueMs },
    providers: [providerOf('acme', { display_name: displayName })],
    models: [],
  });

  const versionOf = async (catalogues: CatalogueStore) => (await catalogues.readPointer())?.version;
  const bodyOf = (catalogues: CatalogueStore, version: string) =>
    catalogues.readDocument({ version, disabledProviders: [] });

  describe('the catalogue at rest', () => {
    it('goes through created, unchanged without a write, changed and back', async () => {
      const { store, writes } = countingWrites(database.store);
      const catalogues = createCatalogueStore(store);
      expect(await versionOf(catalogues)).toBeUndefined();

      const first = await catalogues.write(() => documentWith(1), nowMs);
      expect(first.change).toBe('created');
      expect(await versionOf(catalogues)).toBe(first.version);
      expect(await bodyOf(catalogues, first.version)).toEqual(documentWith(1));

      const before = writes();
      const { models, providers, service } = documentWith(1);
      expect(await catalogues.write(() => ({ models, providers, service }), nowMs)).toEqual({
        ...first,
        change: 'unchanged',
      });
      expect(writes()).toBe(before);

      const second = await catalogues.write(() => documentWith(2), nowMs);
      expect(second.change).toBe('changed');
      expect(second.version).not.toBe(first.version);
      // The former version stays for a rollback, and expires later.
      expect(await bodyOf(catalogues, first.version)).toEqual(documentWith(1));
      expect(await expiryOf(first.version)).toBe(nowMs / 1000 + sevenDaysSeconds);
      expect(await expiryOf(second.version)).toBeUndefined();

      expect((await catalogues.write(() => documentWith(1), nowMs)).version).toBe(first.version);
      expect(await expiryOf(first.version)).toBeUndefined();
      expect(await expiryOf(second.version)).toBe(nowMs / 1000 + sevenDaysSeconds);
    });

    it('has the status of a provider beside its version: one write, and a later document of the same content has it still', async () => {
      const { store, writes } = countingWrites(database.store);
      const catalogues = createCatalogueStore(store);
      const withStatus = (status: 'enabled' | 'disabled', queueMs = 20): CatalogueDocument => ({
        ...documentWith(queueMs),
        providers: documentWith(queueMs).providers.map((provider) => ({ ...provider, status })),
      });
      const { version } = await catalogues.write(() => withStatus('enabled'), nowMs);
      const before = writes();
      expect(await catalogues.write(() => withStatus('disabled'), nowMs)).toEqual({ version, change: 'changed' });
      expect(writes()).toBe(before + 1);
      expect(await catalogues.readPointer()).toEqual({ version, disabledProviders: ['acme'] });
      // A version that the pointer names does not expire.
      expect(await expiryOf(version)).toBeUndefined();
      expect(await catalogues.write(() => withStatus('disabled'), nowMs)).toEqual({ version, change: 'unchanged' });
      expect(
        (
          await catalogues.write(
            (former) => ({ ...withStatus('enabled', 21), providers: former?.providers ?? [] }),
            nowMs,
          )
        ).change,
      ).toBe('changed');
      expect((await catalogues.read())?.providers).toMatchObject([{ id: 'acme', status: 'disabled' }]);
      await catalogues.write(() => withStatus('enabled'), nowMs);
      expect(await catalogues.readPointer()).toEqual({ version, disabledProviders: [] });
    });

    it('that does not fit one item is refused with its size, and nothing is written', async () => {
      const { store, writes } = countingWrites(database.store);
      const catalogues = createCatalogueStore(store);
      const version = await versionOf(catalogues);
      const huge = documentWith(1, randomBytes(400_000).toString('base64'));
      await expect(catalogues.write(() => huge, nowMs)).rejects.toThrow(/too large: \d+ bytes compressed/);
      expect(writes()).toBe(0);
      expect(await versionOf(catalogues)).toBe(version);
    });

    it('written by several operators at once ends as that of one of them, and the pointer never dangles', async () => {
      const catalogues = createCatalogueStore(database.store);
      const outcomes = await Promise.allSettled(
        [10, 11, 12].map((queue) => catalogues.write(() => documentWith(queue), nowMs)),
      );
      expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(String(outcome.reason)).toContain('do it again');
      }
      const version = await versionOf(catalogues);
      expect(await bodyOf(catalogues, version ?? '')).toBeDefined();
    });

    it('answers undefined for a version that is not there', async () => {
      expect(await bodyOf(createCatalogueStore(database.store), '0'.repeat(64))).toBeUndefined();
    });
  });

  const expiryOf = async (version: string) =>
    (await database.store.get('config', `CATALOGUE#${version}`))?.expires_at_epoch_seconds;
});

type Pointer = Parameters<CatalogueStore['readDocument']>[0];

describe('the reader', () => {
  const staleMaxMs = 3_600_000;

  const documentOf = ({ version, disabledProviders }: Pointer): CatalogueDocument => ({
    service: { function_execution: 'enabled', function_concurrency: null, queue_ms: Number(version) },
    providers: [providerOf('acme', { status: disabledProviders.includes('acme') ? 'disabled' : 'enabled' })],
    models: [],
  });

  let nowMs = 0;
  const clock = { nowMs: () => nowMs, after: () => () => {} };
  let storedText: string | undefined;
  let disabled: readonly string[] = [];
  let isDown = false;
  let calls: string[] = [];

  const catalogues = {
    readPointer: async () => {
      calls.push('pointer');
      if (isDown) throw new StoreUnavailable('down');
      return storedText === undefined ? undefined : { version: storedText, disabledProviders: disabled };
    },
    readDocument: async (pointer: Pointer) => {
      calls.push('body');
      if (isDown) throw new StoreUnavailable('down');
      return documentOf(pointer);
    },
  };

  beforeEach(() => {
    nowMs = 1_000_000;
    storedText = '1';
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
      storedText = '2';
      nowMs += configFreshMs;
      const changedCatalogue = await catalogue.current();
      expect([changedCatalogue.version, changedCatalogue.service.queue_ms]).toEqual(['2', 2]);
      expect(calls).toEqual(['pointer', 'body', 'pointer', 'pointer', 'body']);
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
      nowMs += 1_000;
      expect(await catalogue.current()).toBe(first);
    });

    it('that does not exist yet is StoreUnavailable, and is asked for once a second, however many callers there are', async () => {
      const catalogue = reader();
      isDown = true;
      await expect(catalogue.current()).rejects.toBeInstanceOf(StoreUnavailable);
      isDown = false;
      storedText = undefined;
      nowMs += 1_000;
      for (const _caller of [1, 2, 3]) await expect(catalogue.current()).rejects.toBeInstanceOf(StoreUnavailable);
      expect(calls).toEqual(['pointer', 'pointer']);
      storedText = '1';
      nowMs += 999;
      await expect(catalogue.current()).rejects.toBeInstanceOf(StoreUnavailable);
      nowMs += 1;
      expect((await catalogue.current()).version).toBe('1');
    });
  });
});
