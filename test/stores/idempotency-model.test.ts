// Random histories of one key against the real engine: calls that claim, finish, fail, die and come back late, at any
// time and with writes that are sent twice. A few lines of model say what each of them must see.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { recordLifeSeconds, type StoredResult } from '../../shared/accounting/idempotency/index.ts';
import { holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { incompressible, keyScenario, resultOf, sendingTwice } from './idempotency-fixtures.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

type Standing =
  | { state: 'free' }
  | { state: 'running'; owner: string; fingerprint: string; leaseUntilMs: number; expiresAtMs: number }
  | { state: 'done'; owner: string; fingerprint: string; result: StoredResult; expiresAtMs: number };

interface Model {
  standing: Standing;
  /** Every owner that was ever granted the key, with the end of its lease. */
  granted: Map<string, number>;
  /** Those that neither finished nor died. */
  alive: Set<string>;
}

type Real = ReturnType<typeof keyScenario>;
type Command = fc.AsyncCommand<Model, Real>;
type Outcome = Awaited<ReturnType<Real['claim']>>;

const lifeMs = recordLifeSeconds * 1000;
/** Expiry is kept in whole seconds, never too early. */
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
/** Any owner there ever was, the latest most often. */
const pick = ({ granted }: Model, back: number): string => [...granted.keys()].toReversed()[back % granted.size] ?? '';

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
      model.standing = { state: 'done', owner, fingerprint, result, expiresAtMs: expiryAfterMs(real.clock.nowMs()) };
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

/** The runtime ends a call before its lease is over: no running call outlives it. */
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

/** The owner's answer and a retry meet at the store: one of them has it, and the other learns so. */
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
      // The retry came before or after it; while the lease lasted it may have seen the call run.
      const seen = wasFree || claim.kind !== 'running' ? model : { ...model, standing: before };
      expectRefusal(seen, claim, fingerprint);
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
  { weight: 19, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
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
      // Some 600 commands.
      { numRuns: 25 },
    );
  });
});
