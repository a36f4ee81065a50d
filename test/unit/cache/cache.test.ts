import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { createConnectionList, createConnectionReader } from '../../../shared/configuration/byok/index.ts';
import { createWorkspaceReader, mergeWorkspace } from '../../../shared/configuration/workspaces/index.ts';
import { createCache, createReadCache } from '../../../shared/foundation/cache/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { vaultOn } from '../../support/watched-wrapper.ts';

it('an entry without an age stays, whatever time passes', () => {
  const cache = createCache<true>({ sizeMax: 10 });
  cache.set('a', true);
  expect(cache.getRemainingTTL('a')).toBe(Number.POSITIVE_INFINITY);
  expect(cache.has('a')).toBe(true);
});

it('more than the cache holds displaces the entry that was used longest ago, and says so', () => {
  const dropped: string[] = [];
  const cache = createCache<string>({ sizeMax: 2, onDrop: (value) => dropped.push(value) });
  for (const name of ['a', 'b', 'a', 'c']) if (cache.get(name) === undefined) cache.set(name, name);
  expect(['a', 'b', 'c'].map((name) => cache.has(name))).toEqual([true, false, true]);
  expect(dropped).toEqual(['b']);
});

const freshMs = 1_000;

function instance(sizeMax: number, sizeOf?: (value: string | undefined) => number) {
  const clock = manualClock();
  const options = sizeOf === undefined ? {} : { sizeOf };
  const cache = createReadCache<string | undefined>({ sizeMax, ...options, freshMs, clock });
  const reads: string[] = [];
  const get = (key: string) =>
    cache.get(key, async () => {
      reads.push(key);
      return key;
    });
  return { clock, cache, reads, get };
}

describe('a read cache', () => {
  it('drops as many small values as a large one needs, and keeps none that is larger than the whole cache', async () => {
    const { reads, get } = instance(4, (value) => value?.length ?? 0);
    for (const key of ['a', 'b', 'c', 'ddd', 'c', 'ddd']) await get(key);
    expect(reads).toEqual(['a', 'b', 'c', 'ddd']);
    for (const key of ['fives', 'fives']) await get(key);
    expect(reads.slice(4)).toEqual(['fives', 'fives']);
  });
});

// Random histories of one read cache: requests, answers in any order and of any kind, and time that passes meanwhile.
describe('random histories', () => {
  const freshMs = 20;
  const smallSizeMax = 6;
  const keys = [...'abc'];

  const asking = fc.record({ kind: fc.constant('ask' as const), key: fc.constantFrom(...keys) });
  const answering = fc.record({
    kind: fc.constantFrom('value' as const, 'value' as const, 'absent' as const, 'failed' as const),
    open: fc.nat(5),
    size: fc.integer({ min: 1, max: smallSizeMax + 1 }),
  });
  const waiting = fc.record({ kind: fc.constant('wait' as const), forMs: fc.constantFrom(1, freshMs - 1, freshMs) });
  const steps = fc.array(fc.oneof(asking, asking, answering, waiting), { maxLength: 60, size: 'max' });
  type Steps = typeof steps extends fc.Arbitrary<infer Value> ? Value : never;

  interface Read extends PromiseWithResolvers<Read | undefined> {
    readonly key: string;
    readonly askedAtMs: number;
    size: number;
    state: 'open' | 'value' | 'absent' | 'failed';
  }

  interface Question {
    readonly ageMs: number;
    /** The state of the latest read of this key, as it was before the question. */
    readonly former: Read['state'] | 'none';
    readonly readAnew: boolean;
    /** The latest read of this key after the question. */
    readonly latest: Read;
    readonly result: Promise<Read | undefined>;
  }

  async function play(history: Steps, sizeMax: number): Promise<{ questions: Question[]; keptSize: number }> {
    const clock = manualClock();
    const sizeOf = (value: Read | undefined) => value?.size ?? 0;
    const cache = createReadCache<Read | undefined>({ sizeMax, sizeOf, freshMs, clock });
    const reads: Read[] = [];

    function ask(key: string): Question {
      const known = reads.findLast((read) => read.key === key);
      const former = known?.state ?? 'none';
      let latest = known;
      const result = cache.get(key, () => {
        const answer = Promise.withResolvers<Read | undefined>();
        latest = { ...answer, key: key, askedAtMs: clock.nowMs(), size: 0, state: 'open' };
        reads.push(latest);
        return answer.promise;
      });
      // The test compares the result at its end.
      result.catch(() => {});
      if (latest === undefined) throw new Error(`${key} was served and never read`);
      const ageMs = clock.nowMs() - (known?.askedAtMs ?? 0);
      return { ageMs, former, readAnew: latest !== known, latest, result };
    }

    async function answer(read: Read, state: 'value' | 'absent' | 'failed', size: number): Promise<void> {
      Object.assign(read, { state, size });
      if (state === 'failed') read.reject(new Error(`read ${reads.indexOf(read)} failed`));
      else read.resolve(state === 'value' ? read : undefined);
      await Promise.allSettled([read.promise]);
    }

    const questions: Question[] = [];
    for (const step of history) {
      if (step.kind === 'ask') questions.push(ask(step.key));
      else if (step.kind === 'wait') clock.advance(step.forMs);
      else {
        const open = reads.filter(({ state }) => state === 'open');
        const read = open[step.open % open.length];
        if (read !== undefined) await answer(read, step.kind, step.size);
      }
    }
    const freshReads = keys.map(ask).filter(({ readAnew, former }) => !readAnew && former === 'value');
    for (const read of reads) if (read.state === 'open') await answer(read, 'value', 1);
    return { questions, keptSize: freshReads.reduce((sum, { latest }) => sum + latest.size, 0) };
  }

  const always = (check: (played: Awaited<ReturnType<typeof play>>) => void | Promise<void>, sizeMax = smallSizeMax) =>
    fc.assert(
      fc.asyncProperty(steps, async (history) => check(await play(history, sizeMax))),
      { numRuns: 500 },
    );

  const isShared = ({ former, ageMs }: Question): boolean => former === 'open' && ageMs < freshMs;
  const isKeepable = ({ former, ageMs }: Question): boolean => former === 'value' && ageMs < freshMs;

  describe('whatever happens, a read cache', () => {
    it('keeps no more than its bound', () =>
      always(({ keptSize }) => expect(keptSize).toBeLessThanOrEqual(smallSizeMax)));

    it('reads once for all who ask while a read is open that is not too old, however full it is', () =>
      always(({ questions }) =>
        expect(questions.filter((question) => isShared(question) && question.readAnew)).toEqual([]),
      ));

    it('reads anew after a failure, after nothing was found, and when what it has is too old', () =>
      always(({ questions }) => {
        const mayServe = (question: Question) => isShared(question) || isKeepable(question);
        expect(questions.filter((question) => !mayServe(question) && !question.readAnew)).toEqual([]);
      }));

    it('reads nothing anew that is there and fresh, as long as there is room', () =>
      always(
        ({ questions }) =>
          expect(questions.filter((question) => isKeepable(question) && question.readAnew)).toEqual([]),
        Number.MAX_SAFE_INTEGER,
      ));

    it('serves what the latest read gave, value or failure, however late an earlier one ends', () =>
      always(async ({ questions }) => {
        for (const { result, latest } of questions) {
          const [servedResult, wantedResult] = await Promise.allSettled([result, latest.promise]);
          expect(servedResult).toEqual(wantedResult);
          if (servedResult.status === 'fulfilled')
            expect(servedResult.value === undefined || servedResult.value === latest).toBe(true);
        }
      }));
  });
});

// Configuration is cached while it is fresh, and is never served stale because the store is down.
describe('configuration that an instance remembers', () => {
  type Fetch = <Value>(key: string, value: Value) => Promise<Value>;
  type Clock = ReturnType<typeof manualClock>;

  const connection = { provider: 'acme', policy: 'always', budget_usd: null };
  /** Readers of a workspace's settings, which read through `fetch`. */
  const readers: readonly (readonly [
    string,
    (fetch: Fetch, clock: Clock) => (workspace: string) => Promise<unknown>,
  ])[] = [
    [
      'stored connections',
      (fetch, clock) => {
        const store = { get: (_table: string, key: string) => fetch(key, { connections: [connection] }) };
        return createConnectionReader(createConnectionList(store, clock), vaultOn()).connectionsOf;
      },
    ],
    [
      'a workspace',
      (fetch, clock) =>
        createWorkspaceReader({ clock, workspaces: { read: (id) => fetch(id, mergeWorkspace(undefined, { id })) } })
          .read,
    ],
  ];

  describe.each(readers)('%s', (_what, readerOf) => {
    function remembering() {
      const clock = manualClock();
      const reads: string[] = [];
      const state = { isDown: false };
      const read = readerOf(async (key, value) => {
        reads.push(key);
        if (state.isDown) throw new StoreUnavailable('down');
        return value;
      }, clock);
      return { clock, reads, state, read };
    }

    it('costs one read while it is fresh, for any number of callers, and one after that', async () => {
      const { clock, reads, read } = remembering();
      await Promise.all([read('a'), read('a'), read('a')]);
      clock.advance(configFreshMs - 1);
      await read('a');
      expect(reads).toHaveLength(1);
      clock.advance(1);
      await read('a');
      expect(reads).toHaveLength(2);
    });

    it('is never served old while the store is down, and a failure is not remembered', async () => {
      const { clock, state, read } = remembering();
      const first = await read('a');
      clock.advance(configFreshMs);
      state.isDown = true;
      await expect(read('a')).rejects.toThrow(StoreUnavailable);
      state.isDown = false;
      expect(await read('a')).toEqual(first);
    });

    it('is forgotten if that of many others was used since', async () => {
      const { reads, read } = remembering();
      for (let index = 0; index <= cachedWorkspacesMax; index += 1) await read(`w${index}`);
      await read('w1');
      expect(reads).toHaveLength(cachedWorkspacesMax + 1);
      await read('w0');
      expect(reads).toHaveLength(cachedWorkspacesMax + 2);
    });
  });

  it('a workspace that is not there is an error, and a connection without a key cannot be opened', async () => {
    const clock = manualClock();
    const workspaces = createWorkspaceReader({ clock, workspaces: { read: async () => undefined } });
    await expect(workspaces.read('missing')).rejects.toThrow('does not exist');
    const store = { get: async () => undefined };
    const connections = createConnectionReader(createConnectionList(store, clock), vaultOn());
    const bare = {
      workspace: 'a',
      provider: 'acme',
      policy: 'always',
      budgetPicoUsd: null,
      sealed: undefined,
    } as const;
    await expect(connections.openKey(bare)).rejects.toMatchObject({ name: 'SealBroken' });
  });
});
