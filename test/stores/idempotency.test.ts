import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createSpanStore, type StoredResult } from '../../shared/accounting/idempotency/index.ts';
import { holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { sha256Hex, systemRandomness } from '../../shared/foundation/ids/index.ts';
import { createMemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { type BlobStore, memoryBlobs } from '../../shared/storage/blobs/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { anyText } from '../support/any-text.ts';
import { fingerprintNamed } from '../support/fingerprint.ts';
import { manualClock } from '../support/manual-clock.ts';
import type { TestStore } from '../support/test-store.ts';
import { onEachStore } from './each-store.ts';
import { incompressible, keyScenario, resultOf, sendingTwice } from './idempotency-fixtures.ts';

const recordLifeSeconds = 24 * 60 * 60;

onEachStore((start) => {
  let database: TestStore;
  beforeAll(async () => {
    database = await start();
  });
  afterAll(() => database.stop());

  describe('an idempotency key', () => {
    it('that a storm of retries brings to one process is read once or twice, and each retry gets its state', async () => {
      let puts = 0;
      const call = keyScenario({
        ...database.store,
        put: (...args) => {
          puts += 1;
          return database.store.put(...args);
        },
      });
      const storm = (fingerprint: string) =>
        Promise.all(Array.from({ length: 200 }, async () => (await call.claim(call.newOwner(), fingerprint)).kind));
      const [same, other] = await Promise.all([storm('f'), storm('g')]);
      expect([same.filter((kind) => kind === 'claimed').length, new Set(same).size]).toEqual([1, 2]);
      expect(new Set(other)).toEqual(new Set(['conflict']));
      await call.complete('owner-1', resultOf('done'));
      expect(new Set(await storm('f'))).toEqual(new Set(['done']));
      expect(puts).toBeLessThanOrEqual(4);
    });

    it('is in no table: only its hash', async () => {
      const call = keyScenario(database.store);
      await call.claim('a');
      const dump = await database.dumpTables();
      expect(dump).not.toContain(call.key);
      expect(dump).toContain(`IDEM#team-a#${sha256Hex(call.key)}`);
    });
  });

  function recordingBlobs(): BlobStore & { readonly keys: string[] } {
    const blobs = memoryBlobs();
    const keys: string[] = [];
    return {
      keys,
      put: async (key, bytes) => {
        await blobs.put(key, bytes);
        keys.push(key);
      },
      get: (key) => blobs.get(key),
    };
  }

  const sseLine = `data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [{ delta: { content: 'Grüße 🙂' } }] })}\n\n`;
  const bodies: readonly [string, string, 'item' | 'blob'][] = [
    ['an empty body', '', 'item'],
    ['text of all kinds', '{"a":"ü🙂\u2028\\u0000\\ud83d", "b" : 1.0e2}\r\n', 'item'],
    ['a stream of a megabyte', `${sseLine.repeat(12_000)}data: [DONE]\n\n`, 'item'],
    ['300 KB that hardly shrink', incompressible(300 * 1024), 'item'],
    ['the largest body that fits', incompressible(404_000), 'item'],
    ['a body just too large', incompressible(409_700), 'blob'],
    ['the longest body that is kept', 'x'.repeat(32 * 1024 * 1024), 'item'],
    ['a megabyte that hardly shrinks', incompressible(1024 * 1024), 'blob'],
  ];

  describe('a stored result', () => {
    it('is loaded at once by as many calls as have memory for it, also where calls end while they load it', async () => {
      const [blobs, clock] = [memoryBlobs(), manualClock()];
      const budget = createMemoryBudget(clock, { maxBytes: 21_000_000 });
      const [twoBegun, mayLoad] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let begunCount = 0;
      const get = async (key: string) => {
        begunCount += 1;
        if (begunCount === 2) twoBegun.resolve();
        await mayLoad.promise;
        return await blobs.get(key);
      };
      const call = keyScenario(database.store, { blobs: { ...blobs, get }, clock });
      const body = incompressible(1_000_000);
      await call.claim('a');
      await call.complete('a', resultOf(body));
      const claim = (owner: string) => {
        const memory = budget.open();
        return { memory, outcome: call.claim(owner, 'f', { allocation: memory.openAnswer() }) };
      };
      const ended = Array.from({ length: 8 }, (_, at) => claim(`ended-${at}`));
      const outcomes = Promise.allSettled(ended.map(({ outcome }) => outcome));
      await twoBegun.promise;
      for (const { memory } of ended) memory.end();
      const last = claim('last');
      await database.store.get('idempotency', 'none');
      expect([begunCount, budget.bytesInUse()]).toEqual([2, 6_000_000]);
      mayLoad.resolve();
      const replay = await last.outcome;
      expect(replay.kind === 'done' && replay.result.body === body).toBe(true);
      const rejections = (await outcomes).filter((one) => one.status === 'rejected');
      expect(rejections.map(({ reason }) => reason.code)).toEqual(new Array(6).fill('RATE_LIMITER_UNAVAILABLE'));
      expect([begunCount, budget.bytesInUse()]).toEqual([3, 3_000_000]);
      last.memory.end();
      expect(budget.bytesInUse()).toBe(0);
    });

    it.each(bodies)('is replayed byte for byte: %s', async (_name, body, place) => {
      const blobs = recordingBlobs();
      const call = keyScenario(database.store, { blobs });
      const headers = { 'x-empty': '', 'content-type': 'text/event-stream' };
      const result = resultOf(body, { status: 201, headers, model: 'acme/large-1', provider: 'acme' });
      await call.claim('a');
      expect(await call.complete('a', result)).toEqual({ kind: 'completed' });
      const replay = await call.claim('b');
      // The body is not compared with toEqual, because a difference would print a megabyte.
      expect(replay.kind === 'done' && replay.result.body === body).toBe(true);
      expect(replay).toMatchObject({ kind: 'done', result: { ...result, body: expect.any(String) } });
      expect(blobs.keys).toHaveLength(place === 'blob' ? 1 : 0);
    });

    it('in the blob store is complete there before the record names it', async () => {
      const blobs: BlobStore = { put: async () => Promise.reject(new Error('down')), get: async () => undefined };
      const call = keyScenario(database.store, { blobs });
      await call.claim('a');
      await expect(call.complete('a', resultOf(incompressible(500_000)))).rejects.toThrow(StoreUnavailable);
      expect((await call.claim('b')).kind).toBe('running');
      await call.release('a');
      expect(await call.claim('b')).toEqual({ kind: 'claimed' });
    });

    it('of a late owner has a name of its own and never replaces the one that counts', async () => {
      const call = keyScenario(database.store, { blobs: recordingBlobs() });
      const [late, counts] = [incompressible(500_000), incompressible(500_000)];
      await call.claim('late');
      call.clock.advance(100_000);
      await call.claim('new');
      await call.complete('new', resultOf(counts));
      expect(await call.complete('late', resultOf(late))).toEqual({ kind: 'fenced' });
      const replay = await call.claim('b');
      expect(replay.kind === 'done' && replay.result.body === counts).toBe(true);
    });

    it.each<[string, string | undefined]>([
      ['of more than 32 MiB', 'x'.repeat(32 * 1024 * 1024 + 1)],
      ['too long to be collected', undefined],
    ])(
      '%s is not kept, and its key is used up: a retry runs nothing, another body is a conflict',
      async (_name, body) => {
        const call = keyScenario(database.store);
        await call.claim('a');
        expect(await call.complete('a', { ...resultOf(''), body })).toEqual({ kind: 'completed' });
        expect(await call.complete('a', { ...resultOf(''), body })).toEqual({ kind: 'completed' });
        await call.release('a');
        expect(await call.claim('b')).toEqual({ kind: 'done_unstored' });
        expect(await call.claim('c', 'other')).toEqual({ kind: 'conflict' });
      },
    );
  });

  describe('a stored result that cannot be read', () => {
    async function doneWith(get: BlobStore['get']) {
      const call = keyScenario(database.store, { blobs: { put: async () => {}, get } });
      await call.claim('a');
      await call.complete('a', resultOf(incompressible(500_000)));
      return call;
    }

    it('for the moment is reported as a store that is down', async () => {
      const call = await doneWith(async () => Promise.reject(new Error('down')));
      await expect(call.claim('b')).rejects.toThrow(StoreUnavailable);
    });

    it.each<[string, BlobStore['get']]>([
      ['is gone', async () => undefined],
      ['is damaged', async () => Uint8Array.of(1, 2, 3)],
    ])('because it %s is an error, and the call is not run a second time', async (_name, get) => {
      const call = await doneWith(get);
      const failure = await call.claim('b').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(failure).not.toBeInstanceOf(StoreUnavailable);
      const item = await database.store.get('idempotency', `IDEM#team-a#${sha256Hex(call.key)}`);
      expect(item).toMatchObject({ state: 'done', owner: 'a' });
    });
  });

  // Random histories of one key on the real engine: calls that claim, finish, fail, die and come back late, at any time
  // and with writes that are sent twice. A short model says what each of them must see.
  describe('a model of it', () => {
    let database: TestStore;
    beforeAll(async () => {
      database = await start();
    });
    afterAll(() => database.stop());

    type Standing =
      | { state: 'free' }
      | { state: 'running'; owner: string; fingerprint: string; leaseUntilMs: number; expiresAtMs: number }
      | { state: 'done'; owner: string; fingerprint: string; result: StoredResult; expiresAtMs: number };

    interface Model {
      standing: Standing;
      /** Every owner that ever got the key, with the end of its lease. */
      granted: Map<string, number>;
      /** Owners that neither finished nor died. */
      alive: Set<string>;
    }

    type Real = ReturnType<typeof keyScenario>;
    type Command = fc.AsyncCommand<Model, Real>;
    type Outcome = Awaited<ReturnType<Real['claim']>>;

    const lifeMs = recordLifeSeconds * 1000;
    /** The store has expiry times in whole seconds, never too early. */
    const expiryAfterMs = (nowMs: number): number => Math.ceil(nowMs / 1000) * 1000 + lifeMs;

    function isFree({ standing }: Model, nowMs: number): boolean {
      if (standing.state === 'free' || standing.expiresAtMs <= nowMs) return true;
      return standing.state === 'running' && standing.leaseUntilMs <= nowMs;
    }

    function grant(model: Model, real: Real, owner: string, fingerprint: string): void {
      const nowMs = real.clock.nowMs();
      const rivals = [...model.alive].filter((other) => (model.granted.get(other) ?? 0) > nowMs);
      expect(rivals).toEqual([]);
      const leaseUntilMs = nowMs + holdLifeMs;
      model.standing = { state: 'running', owner, fingerprint, leaseUntilMs, expiresAtMs: expiryAfterMs(nowMs) };
      model.granted.set(owner, leaseUntilMs);
      model.alive.add(owner);
    }

    function expectRefusal({ standing }: Model, outcome: Outcome, fingerprint: string): void {
      if (standing.state === 'free') throw new Error('a free key refuses no call');
      if (standing.fingerprint !== fingerprint) expect(outcome).toEqual({ kind: 'conflict' });
      else if (standing.state === 'running') {
        expect(outcome).toEqual({ kind: 'running', leaseUntilMs: standing.leaseUntilMs });
      } else {
        expect(outcome.kind === 'done' && outcome.result.body === standing.result.body).toBe(true);
        expect(outcome).toMatchObject({ result: { headers: standing.result.headers, status: standing.result.status } });
      }
    }

    const anytime = { check: () => true };
    const onceGranted = { check: ({ granted }: Readonly<Model>) => granted.size > 0 };
    /** Returns any former or present owner, most often the latest one. */
    const pick = ({ granted }: Model, back: number): string =>
      [...granted.keys()].toReversed()[back % granted.size] ?? '';

    const claims = (count: number, fingerprint: string): Command => ({
      ...anytime,
      async run(model, real) {
        const owners = Array.from({ length: count }, () => real.newOwner());
        const mayRun = isFree(model, real.clock.nowMs());
        const outcomes = await Promise.all(owners.map((owner) => real.claim(owner, fingerprint)));
        const winners = owners.filter((_owner, index) => outcomes[index]?.kind === 'claimed');
        expect(winners).toHaveLength(mayRun ? 1 : 0);
        for (const winner of winners) grant(model, real, winner, fingerprint);
        for (const outcome of outcomes) if (outcome.kind !== 'claimed') expectRefusal(model, outcome, fingerprint);
      },
      toString: () => `${count} claims of ${fingerprint}`,
    });

    const completes = (back: number, result: StoredResult): Command => ({
      ...onceGranted,
      async run(model, real) {
        const owner = pick(model, back);
        const { standing } = model;
        const outcome = await real.complete(owner, result);
        model.alive.delete(owner);
        const isHis = standing.state !== 'free' && standing.owner === owner;
        if (isHis && standing.state === 'running') {
          expect(outcome).toEqual({ kind: 'completed' });
          const { fingerprint } = standing;
          model.standing = {
            state: 'done',
            owner,
            fingerprint,
            result,
            expiresAtMs: expiryAfterMs(real.clock.nowMs()),
          };
        } else {
          const isSame = isHis && standing.state === 'done' && standing.result.body === result.body;
          expect(outcome).toEqual({ kind: isSame ? 'completed' : 'fenced' });
        }
      },
      toString: () => `the owner ${back} back completes with ${result.body.length} characters`,
    });

    const releases = (back: number): Command => ({
      ...onceGranted,
      async run(model, real) {
        const owner = pick(model, back);
        await real.release(owner);
        model.alive.delete(owner);
        const { standing } = model;
        if (standing.state === 'running' && standing.owner === owner) model.standing = { state: 'free' };
      },
      toString: () => `the owner ${back} back releases`,
    });

    const dies = (back: number): Command => ({
      ...onceGranted,
      run: async (model) => {
        model.alive.delete(pick(model, back));
      },
      toString: () => `the owner ${back} back dies`,
    });

    /** The runtime ends a call before its lease is over, so no running call outlives its lease. */
    const passes = (ms: number): Command => ({
      ...anytime,
      run: async (model, real) => {
        real.clock.advance(ms);
        for (const owner of model.alive) {
          if ((model.granted.get(owner) ?? 0) <= real.clock.nowMs()) model.alive.delete(owner);
        }
      },
      toString: () => `${ms} ms pass`,
    });

    /**
     * The owner's answer and a retry reach the store together: one of them gets the key, and the other learns of it.
     */
    const races = (back: number, result: StoredResult, fingerprint: string): Command => ({
      ...onceGranted,
      async run(model, real) {
        const [late, retry] = [pick(model, back), real.newOwner()];
        const before = model.standing;
        const wasFree = isFree(model, real.clock.nowMs());
        const [completion, claim] = await Promise.all([real.complete(late, result), real.claim(retry, fingerprint)]);
        model.alive.delete(late);
        const mayComplete = before.state === 'running' && before.owner === late;
        if (mayComplete && completion.kind === 'completed') {
          const expiresAtMs = expiryAfterMs(real.clock.nowMs());
          model.standing = { state: 'done', owner: late, fingerprint: before.fingerprint, result, expiresAtMs };
          // The retry came before or after the answer; while the lease lasted, it may have found the call running.
          const expectedModel = wasFree || claim.kind !== 'running' ? model : { ...model, standing: before };
          expectRefusal(expectedModel, claim, fingerprint);
        } else if (claim.kind === 'claimed') {
          expect(wasFree).toBe(true);
          grant(model, real, retry, fingerprint);
        } else {
          expect(mayComplete || wasFree).toBe(false);
          expectRefusal(model, claim, fingerprint);
        }
      },
      toString: () => `the owner ${back} back completes while a retry of ${fingerprint} claims`,
    });

    const back = fc.nat({ max: 3 });
    const fingerprint = fc.constantFrom('f', 'f', 'f', 'g');
    const large = [incompressible(420_000), incompressible(420_000)] as const;
    const body = fc.oneof(
      { weight: 19, arbitrary: anyText({ maxLength: 200 }) },
      { weight: 1, arbitrary: fc.constantFrom(...large) },
    );
    const result = fc.tuple(body, fc.constantFrom(200, 201)).map(([text, status]) => resultOf(text, { status }));

    const history = fc.commands<Model, Real, false>(
      [
        fc.tuple(fc.constantFrom(1, 1, 2, 6), fingerprint).map(([count, inputs]) => claims(count, inputs)),
        fc.tuple(back, result).map(([who, answer]) => completes(who, answer)),
        fc.tuple(back, result, fingerprint).map(([who, answer, inputs]) => races(who, answer, inputs)),
        back.map(releases),
        back.map(dies),
        fc.constantFrom(1, 30_000, holdLifeMs - 1, holdLifeMs, lifeMs - holdLifeMs, lifeMs, lifeMs + 1000).map(passes),
      ],
      { size: 'max', maxCommands: 30 },
    );

    describe('an idempotency key', () => {
      it.each([
        ['', (store: TestStore['store']) => store],
        [' and though writes are all sent twice', sendingTwice],
      ])('lets one call run at a time and never changes an answer, whatever happens%s', async (_name, wrap) => {
        await fc.assert(
          fc.asyncProperty(history, async (commands) => {
            const start = { standing: { state: 'free' }, granted: new Map(), alive: new Set() } satisfies Model;
            await fc.asyncModelRun(() => ({ model: { ...start }, real: keyScenario(wrap(database.store)) }), commands);
          }),
          // This makes some 600 commands.
          { numRuns: 25 },
        );
      });
    });
  });

  describe('spans', () => {
    let database: TestStore;
    beforeAll(async () => {
      database = await start();
    });
    afterAll(() => database.stop());

    const hourMs = 60 * 60 * 1000;
    const lifeMs = 30 * 24 * 60 * 60 * 1000;

    function spanScenario(store: Store = database.store) {
      const clock = manualClock();
      const spans = createSpanStore(store, clock);
      const common = { workspace: 'team-a', spanId: `span:${systemRandomness.uuid()}` };
      let owners = 0;
      return {
        clock,
        spanId: common.spanId,
        /** Makes a new call each time, with its own inputs by default. */
        claim: async ({
          fingerprint: inputs,
          ...more
        }: Partial<Omit<Parameters<typeof spans.claim>[0], 'fingerprint'>> & { fingerprint?: string } = {}) => {
          owners += 1;
          const owner = `owner-${owners}`;
          const claim = {
            ...common,
            owner,
            fingerprint: fingerprintNamed(inputs ?? `f-${owners}`),
            nowMs: clock.nowMs(),
            ...more,
          };
          return (await spans.claim(claim)).kind;
        },
        release: (owner: string) => spans.release({ ...common, owner }),
        withdraw: (owner: string) => spans.withdraw({ ...common, owner }),
      };
    }

    const ten = <Value>(make: () => Promise<Value>): Promise<Value[]> => Promise.all(Array.from({ length: 10 }, make));

    describe('a span id', () => {
      it('that many calls of a process bring at once is asked for once or twice, and one of them has it', async () => {
        let puts = 0;
        const span = spanScenario({
          ...database.store,
          put: (...args) => {
            puts += 1;
            return database.store.put(...args);
          },
        });
        const outcomes = await Promise.all(Array.from({ length: 200 }, () => span.claim()));
        expect(outcomes.filter((kind) => kind === 'claimed')).toHaveLength(1);
        expect(puts).toBeLessThanOrEqual(2);
        await span.release('owner-1');
        const again = await Promise.all(Array.from({ length: 200 }, () => span.claim({ fingerprint: 'f-1' })));
        expect(again.filter((kind) => kind === 'claimed')).toHaveLength(1);
        expect(puts).toBeLessThanOrEqual(4);
      });

      it('is free again after 30 days although the item is still there, and not a moment earlier', async () => {
        const span = spanScenario();
        await span.claim();
        span.clock.advance(lifeMs - 1);
        expect(await span.claim()).toBe('duplicate');
        span.clock.advance(1);
        expect((await ten(span.claim)).toSorted()).toEqual(['claimed', ...Array(9).fill('duplicate')]);
      });

      it('whose claim is sent twice is claimed by its own call', async () => {
        const span = spanScenario(sendingTwice(database.store));
        expect(await span.claim()).toBe('claimed');
        expect(await span.claim()).toBe('duplicate');
      });

      it('and its Idempotency-Key are in no table: only their hashes', async () => {
        const span = spanScenario();
        await span.claim({ idempotencyKey: 'canary-key-4711' });
        const dump = await database.dumpTables();
        expect(dump).not.toContain(span.spanId);
        expect(dump).not.toContain('canary-key-4711');
      });
    });

    describe('a span that was released after a retryable failure', () => {
      it('is claimed by exactly one retry with the same inputs, and by no other call', async () => {
        const span = spanScenario();
        await span.claim({ owner: 'first', fingerprint: 'f' });
        await span.release('first');
        expect(await span.claim()).toBe('duplicate');
        const retries = await ten(() => span.claim({ fingerprint: 'f' }));
        expect(retries.toSorted()).toEqual(['claimed', ...Array(9).fill('duplicate')]);
        expect(await span.claim({ fingerprint: 'f' })).toBe('duplicate');
      });

      it('is released by its own call only', async () => {
        const span = spanScenario();
        await span.claim({ owner: 'first', fingerprint: 'f' });
        await span.release('stranger');
        expect(await span.claim({ fingerprint: 'f' })).toBe('duplicate');
        await span.release('first');
        expect(await span.claim({ owner: 'second', fingerprint: 'f' })).toBe('claimed');
        await span.release('first');
        expect(await span.claim({ fingerprint: 'f' })).toBe('duplicate');
      });
    });

    describe('a span that was withdrawn', () => {
      it('is free for any call at once, whatever clock that goes by', async () => {
        const span = spanScenario();
        await span.claim({ owner: 'refused' });
        await span.withdraw('refused');
        span.clock.advance(-hourMs);
        expect(await span.claim()).toBe('claimed');
      });

      it('is withdrawn by its own call only', async () => {
        const span = spanScenario();
        await span.claim({ owner: 'first' });
        await span.withdraw('stranger');
        expect(await span.claim()).toBe('duplicate');
      });

      it('has an expiry that DynamoDB deletes by: past, and less than five years ago', async () => {
        const span = spanScenario();
        await span.claim({ owner: 'refused' });
        await span.withdraw('refused');
        const key = `SPAN#team-a#${sha256Hex(span.spanId)}`;
        const { expires_at_epoch_seconds: expiry } = (await database.store.get('spans', key)) ?? {};
        const ageSeconds = span.clock.nowMs() / 1_000 - Number(expiry);
        expect(ageSeconds).toBeGreaterThan(0);
        expect(ageSeconds).toBeLessThan(5 * 365 * 24 * 3_600);
      });
    });
  });
});
