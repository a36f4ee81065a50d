// Providers that rate limited a call or failed two wait at the end of the plan for a while. They move to the end, and
// are never switched off.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { createCooldowns } from '../../shared/accounting/provider-health/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { newKey, type Route } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { readStream } from '../support/read-stream.ts';
import { completionOf, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';

/** This time is longer than any cooldown, and than the life of a stored cooldown. */
const forgottenMs = 2 * 3_600_000;
const dear = { input_price_per_million: '9', output_price_per_million: '9' };
/** `first` is the cheaper provider, so it is called first unless it cools. */
const pair = (upstream: string, first = 'first'): Route[] => [
  { provider: first, upstream },
  { provider: 'second', upstream: 'echo', more: dear },
];

describe('a provider', () => {
  const otherKey = newKey();
  const thirdKey = newKey();
  const clock = manualClock();
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({
      clock,
      models: {
        'acme/failing': pair('error-500'),
        'acme/limited': pair('error-429:x:30'),
        'acme/limited-long': pair('error-429:x:7200'),
        'acme/limited-plain': pair('error-429'),
        'acme/unavailable': pair('error-503:x:40'),
        'acme/rejecting': pair('error-400'),
        'acme/refusing': pair('error-401'),
        'acme/breaking': pair('error-after-chunks:2'),
        'acme/well': pair('echo'),
        'acme/down': [
          { provider: 'first', upstream: 'error-500' },
          { provider: 'second', upstream: 'error-500', more: dear },
        ],
      },
      providers: {
        first: { accepts_byok_header: true },
      },
      workspace: { features: { byok: true } },
      moreWorkspaces: [
        { id: 'other', credit_usd: '1', keys: [{ name: 'k', key: otherKey }] },
        { id: 'third', credit_usd: '1', keys: [{ name: 'k', key: thirdKey }] },
      ],
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => clock.advance(forgottenMs));

  /** Makes a call and returns the providers that were called, in order. */
  async function attemptsFor(
    model: string,
    more: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<string[]> {
    gateway.simulator.clear();
    await (await gateway.post(hello(model, more), headers)).text();
    return gateway.simulator.calls.map(({ provider }) => provider);
  }
  const both = ['first', 'second'];
  const onlySecond = ['second'];

  /** Makes two calls that fail. */
  async function failTwice(model: string): Promise<void> {
    expect(await attemptsFor(model)).toEqual(both);
    expect(await attemptsFor(model)).toEqual(both);
  }

  it.each([
    ['acme/failing', 2, 10_000],
    ['acme/refusing', 2, 10_000],
    ['acme/unavailable', 2, 40_000],
    ['acme/limited-plain', 1, 10_000],
    ['acme/limited', 1, 30_000],
    // The provider said two hours, but is called again after ten minutes.
    ['acme/limited-long', 1, 600_000],
  ])(
    'that limited one call or failed two is called last for ten seconds, or as long as it said: %s',
    async (model, calls, cooldownMs) => {
      for (let call = 0; call < calls; call += 1) expect(await attemptsFor(model)).toEqual(both);
      expect(await attemptsFor(model)).toEqual(onlySecond);
      clock.advance(cooldownMs - 1);
      expect(await attemptsFor(model)).toEqual(onlySecond);
      clock.advance(1);
      expect(await attemptsFor(model)).toEqual(both);
    },
  );

  it.each(['acme/failing', 'acme/limited'])(
    'that failed calls of one workspace moves for this workspace alone; once it failed one of another, for all: %s',
    async (model) => {
      const [other, third] = [otherKey, thirdKey].map((key) => ({ authorization: `Bearer ${key}` }));
      while ((await attemptsFor(model)).length > 1);
      expect(await attemptsFor(model, {}, other)).toEqual(both);
      expect(await attemptsFor(model, {}, third)).toEqual(onlySecond);
      expect(await attemptsFor(model, {}, other)).toEqual(onlySecond);
      clock.advance(30_001);
      expect(await attemptsFor(model, {}, third)).toEqual(both);
      expect(await attemptsFor(model, {}, other)).toEqual(both);
    },
  );

  it('that rejects what a caller sent is called first again', async () => {
    expect(await attemptsFor('acme/rejecting')).toEqual(both);
    expect(await attemptsFor('acme/rejecting')).toEqual(both);
  });

  it('keeps the longer of two cooldowns, whichever came first', async () => {
    const pinned = { provider: { only: 'first' } };
    expect(await attemptsFor('acme/limited')).toEqual(both);
    clock.advance(25_000);
    // A provider that is the only candidate is called, cooling or not; its 30 seconds begin anew here.
    expect(await attemptsFor('acme/limited', pinned)).toEqual(['first']);
    clock.advance(29_999);
    expect(await attemptsFor('acme/limited')).toEqual(onlySecond);
    for (const retryAfterMs of [20_000, 1_000]) {
      const entry = { provider: 'first', model: 'acme/limited' };
      gateway.composition.cooldowns.report(entry, {
        workspace: 'team',
        callId: 'c',
        isRateLimited: true,
        retryAfterMs,
      });
    }
    clock.advance(19_999);
    expect(await attemptsFor('acme/limited')).toEqual(onlySecond);
    clock.advance(1);
    expect(await attemptsFor('acme/limited')).toEqual(both);
  });

  it('that cools is called first if the request names it first, and only then', async () => {
    await failTwice('acme/failing');
    expect(await attemptsFor('acme/failing', { provider: { order: ['first', 'second'] } })).toEqual(both);
    expect(await attemptsFor('acme/failing', { provider: { sort: 'price' } })).toEqual(onlySecond);
    expect(await attemptsFor('acme/failing', { provider: { ignore: ['nobody'] } })).toEqual(onlySecond);
    expect(await attemptsFor('acme/failing', { provider: { allow_fallbacks: false } })).toEqual(onlySecond);
    expect(await attemptsFor('acme/failing', { provider: { order: ['first'], allow_fallbacks: false } })).toEqual([
      'first',
    ]);
  });

  it('is asked although it cools if all do', async () => {
    await failTwice('acme/down');
    expect(await attemptsFor('acme/down')).toEqual(both);
  });

  it('that broke a stream after its first output cools too', async () => {
    const stream = { stream: true };
    for (const _call of [1, 2]) await readStream(await gateway.post(hello('acme/breaking', stream)));
    await eventually(() =>
      gateway.composition.cooldowns.isCooling({ provider: 'first', model: 'acme/breaking' }, 'team'),
    );
    expect(await attemptsFor('acme/breaking', stream)).toEqual(onlySecond);
  });

  it('does not cool because a client’s own key was refused', async () => {
    const headers = { 'x-byok-key': 'their-own' };
    for (const _call of [1, 2])
      expect(await attemptsFor('acme/refusing', { provider: { only: 'first' } }, headers)).toEqual(['first']);
    expect(await attemptsFor('acme/refusing')).toEqual(both);
  });

  it('does not cool because of a fault of ours, which is logged with its cause; the next provider answers', async () => {
    const signing = async () => {
      throw new TypeError('the signer is broken');
    };
    const recorded: string[] = [];
    const ourFault = await startHarness({
      clock,
      models: { 'acme/model': pair('echo') },
      replace: ({ credentials, recorder }) => ({
        recorder: { ...recorder, record: ({ provider, outcome }) => void recorded.push(`${provider} ${outcome}`) },
        credentials: {
          ...credentials,
          find: (provider) => (provider.id === 'first' ? { headers: {}, sign: signing } : credentials.find(provider)),
        },
      }),
    });
    for (const _call of [1, 2, 3]) expect((await ourFault.post(hello('acme/model'))).status).toBe(200);
    expect(ourFault.simulator.calls.map(({ provider }) => provider)).toEqual(['second', 'second', 'second']);
    expect(ourFault.composition.cooldowns.isCooling({ provider: 'first', model: 'acme/model' }, 'team')).toBe(false);
    const lines = ourFault.logLines.filter((line) => line.includes('attempt_not_made'));
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain('the signer is broken');
    await ourFault.stop();
    // The gateway's own fault counts as no failure of the provider.
    expect(recorded).toEqual(['second ok', 'second ok', 'second ok']);
  });

  it('does not cool because a client left', async () => {
    const leave = new AbortController();
    const answering = Promise.withResolvers<ServerResponse>();
    const patient = await startScriptedProvider((outgoing) => {
      leave.abort();
      answering.resolve(outgoing);
    });
    const impatient = await startHarness({
      clock,
      models: { 'acme/model': pair('echo') },
      providers: { first: { base_url: patient.url } },
    });
    const { url, key, composition } = impatient;
    const abandonedCall = fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(hello('acme/model')),
      signal: leave.signal,
    });
    await expect(abandonedCall).rejects.toThrow();
    // This request is answered after the gateway has seen the connection close.
    await (await impatient.get('/models')).text();
    sendJson(await answering.promise, completionOf({ content: 'Too late.' }));
    await impatient.stop();
    expect(composition.cooldowns.isCooling({ provider: 'first', model: 'acme/model' }, 'team')).toBe(false);
    expect(impatient.simulator.calls).toHaveLength(0);
    await patient.stop();
  });
});

describe('the memory of cooldowns', () => {
  const clock = manualClock();
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({ clock, models: { 'acme/failing': pair('error-500') } });
  });
  afterAll(() => gateway.stop());
  beforeEach(async () => {
    clock.advance(forgottenMs);
    await gateway.testStore.store.delete('limits', 'COOLDOWNS');
  });

  const another = () => createCooldowns({ store: gateway.testStore.store, clock });
  const entry = { provider: 'first', model: 'acme/failing' };
  const limitReport = (retryAfterMs = 0) => ({ workspace: 'team', callId: 'c', isRateLimited: true, retryAfterMs });
  const failed = (callId: string, workspace = 'team') => ({ workspace, callId, isRateLimited: false });
  const readItem = async (): Promise<Item> => (await gateway.testStore.store.get('limits', 'COOLDOWNS')) ?? {};
  const coolingMark = `cooling_until first ${entry.model}`;
  const failureMark = `failure_of team first ${entry.model}`;

  it('is shared: another instance knows after its next look, and the one that noticed it at once', async () => {
    const other = another();
    await other.refresh();
    for (const _call of [1, 2]) await (await gateway.post(hello('acme/failing'))).text();
    const coolingUntil = async () => ((await readItem())[failureMark] as { cooling_until?: number })?.cooling_until;
    await eventually(async () => (await coolingUntil()) === clock.nowMs() + 10_000);
    await other.refresh();
    expect(other.isCooling(entry, 'team')).toBe(false);
    clock.advance(5_000);
    await other.refresh();
    expect(other.isCooling(entry, 'team')).toBe(true);
    clock.advance(5_000);
    expect(other.isCooling(entry, 'team')).toBe(false);
    await other.refresh();
    expect(other.isCooling(entry, 'team')).toBe(false);
  });

  it('is never shortened by a report that comes late', async () => {
    const [early, late] = [another(), another()];
    late.report(entry, limitReport(10_000));
    early.report(entry, limitReport(60_000));
    await early.flush();
    await late.flush();
    const third = another();
    await third.refresh();
    clock.advance(59_999);
    expect(third.isCooling(entry, 'team')).toBe(true);
  });

  it('is not crowded out by what has long passed', async () => {
    const past = Array.from({ length: 1_500 }, (_, at) => [`cooling_until first past/${at}`, clock.nowMs() - 1]);
    const item = { pk: 'COOLDOWNS', [coolingMark]: clock.nowMs() + 10_000, ...Object.fromEntries(past) };
    const cooldowns = createCooldowns({ store: { ...gateway.testStore.store, get: async () => item }, clock });
    await cooldowns.refresh();
    expect(cooldowns.isCooling(entry, 'team')).toBe(true);
  });

  it('adds up the failures of two calls on two instances, and not those of one call', async () => {
    const [one, two, three] = [another(), another(), another()];
    one.report(entry, failed('a'));
    await one.flush();
    await three.refresh();
    expect(three.isCooling(entry, 'team')).toBe(false);
    clock.advance(5_000);
    two.report(entry, failed('b'));
    expect(two.isCooling(entry, 'team')).toBe(false);
    await two.flush();
    expect(two.isCooling(entry, 'team')).toBe(true);
    await three.refresh();
    expect(three.isCooling(entry, 'team')).toBe(true);
  });

  it('adds up the failures of two workspaces on two instances for all, those of one for itself', async () => {
    const [one, two, three] = [another(), another(), another()];
    for (const callId of ['a', 'b']) one.report(entry, failed(callId));
    await one.flush();
    await three.refresh();
    const coolsOn = (cooldowns: typeof one) => ['team', 'other', 'third'].map((id) => cooldowns.isCooling(entry, id));
    expect([coolsOn(one), coolsOn(three)]).toEqual(Array(2).fill([true, false, false]));
    expect(three.coolingFor(entry)).toEqual(['team']);
    // This instance has not read the item: the answer to its own write shows it the other workspace.
    two.report(entry, failed('c', 'other'));
    await two.flush();
    clock.advance(5_000);
    await three.refresh();
    expect([coolsOn(two), coolsOn(three)]).toEqual(Array(2).fill([true, true, true]));
    expect(three.coolingFor(entry)).toBe('all');
    expect(await readItem()).toHaveProperty([coolingMark]);
  });

  it('says on every instance whether the last call that failed was limited, and nothing once that is over', async () => {
    const [one, two] = [another(), another()];
    one.report(entry, failed('a'));
    expect(one.lastFailure(entry)).toBe('failing');
    clock.advance(1);
    one.report(entry, limitReport());
    await one.flush();
    await two.refresh();
    expect([one, two].map((cooldowns) => cooldowns.lastFailure(entry))).toEqual(['limited', 'limited']);
    expect(two.lastFailure({ ...entry, model: 'acme/other' })).toBeUndefined();
    clock.advance(31_000);
    expect([one, two].map((cooldowns) => cooldowns.lastFailure(entry))).toEqual([undefined, undefined]);
  });

  it('takes a failure whose write was sent twice for one failure', async () => {
    const { store } = gateway.testStore;
    const update: Store['update'] = async (write) => {
      await store.update(write);
      return store.update(write);
    };
    const cooldowns = createCooldowns({ store: { ...store, update }, clock });
    cooldowns.report(entry, failed('a'));
    await cooldowns.flush();
    expect(cooldowns.isCooling(entry, 'team')).toBe(false);
    expect(await readItem()).not.toHaveProperty([coolingMark]);
  });

  /** Returns a store that counts the writes of one instance. */
  function counting() {
    const writes: string[] = [];
    const { store } = gateway.testStore;
    const update: Store['update'] = (write) => {
      writes.push(Object.keys(write.changes.set ?? {})[0] ?? '');
      return store.update(write);
    };
    return { writes, cooldowns: createCooldowns({ store: { ...store, update }, clock }) };
  }

  it('costs no write if no provider failed, and one per cooling however many calls fail in it', async () => {
    const { writes, cooldowns } = counting();
    await cooldowns.flush();
    expect(writes).toEqual([]);
    for (let time = 0; time < 5; time += 1) {
      cooldowns.report(entry, { ...limitReport(30_000 + time), callId: `limited-${time}` });
      cooldowns.report(entry, failed(`failed-${time}`));
      await cooldowns.flush();
      clock.advance(1);
    }
    expect(writes).toEqual([failureMark]);
    clock.advance(60_000);
    cooldowns.report(entry, limitReport());
    await cooldowns.flush();
    expect(writes).toEqual([failureMark, failureMark]);
  });

  it('forgets what is over: the next write removes it from the item', async () => {
    const cooldowns = another();
    for (const model of ['acme/a', 'acme/b']) cooldowns.report({ ...entry, model }, limitReport());
    cooldowns.report({ ...entry, model: 'acme/c' }, failed('c'));
    cooldowns.report({ ...entry, model: 'acme/d' }, limitReport(60_000));
    await cooldowns.flush();
    clock.advance(30_001);
    const late = another();
    await late.refresh();
    late.report(entry, limitReport());
    await late.flush();
    const marks = Object.keys(await readItem()).filter((name) => name.includes(' '));
    expect(marks.sort()).toEqual(['failure_of team first acme/d', failureMark]);
  });

  it('writes its mark although another instance has renewed what was to be removed', async () => {
    const [stale, other] = [another(), another()];
    const renewed = { ...entry, model: 'acme/renewed' };
    other.report(renewed, limitReport());
    await other.flush();
    await stale.refresh();
    clock.advance(10_000);
    other.report(renewed, limitReport());
    await other.flush();
    stale.report(entry, limitReport());
    await stale.flush();
    const third = another();
    await third.refresh();
    expect([third.isCooling(entry, 'team'), third.isCooling(renewed, 'team')]).toEqual([true, true]);
  });

  it('has a time to live that DynamoDB deletes it by', async () => {
    const cooldowns = another();
    cooldowns.report(entry, limitReport(600_000));
    await cooldowns.flush();
    const secondsLeft = Number((await readItem()).expires_at_epoch_seconds) - clock.nowMs() / 1_000;
    expect(secondsLeft).toBeGreaterThan(600);
    expect(secondsLeft).toBeLessThanOrEqual(7 * 86_400 + 1);
  });
});
