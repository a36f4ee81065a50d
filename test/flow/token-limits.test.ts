// Tokens per minute of keys and workspaces: reserved by an estimate, corrected to the usage, exact over all gateways of
// a store.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { countingWrites } from '../support/counting-writes.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, type ServedGateway, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { aroundStore } from '../support/wrapped-store.ts';

/** The tokens that the provider reports for each call. */
const used = 15;
/** The input of these calls and 400 tokens of output are more than half of the limit, and less than all of it. */
const bound = { max_tokens: 400 };
const tpm = 500;
const minuteMs = 60_000;

describe('tokens per minute', () => {
  const clock = manualClock();
  const keys = { limited: newKey(), first: newKey(), second: newKey(), poor: newKey(), free: newKey() };
  let harness: Harness;
  let other: ServedGateway;
  let provider: ScriptedProvider;
  let isHeld = false;
  const waiting: (() => void)[] = [];

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => {
      const answer = () => sendJson(outgoing, completionOf({ content: 'done' }));
      if (isHeld) waiting.push(answer);
      else answer();
    });
    harness = await startHarness({
      clock,
      models: {
        'acme/model': [{ provider: 'acme', upstream: 'scripted' }],
        'acme/broken': [{ provider: 'broken', upstream: 'error-500' }],
        'acme/stream': [{ provider: 'broken', upstream: 'stream' }],
      },
      providers: { acme: { base_url: provider.url } },
      key: { tpm, spend_limit_usd: '50' },
      moreWorkspaces: [
        {
          id: 'shared',
          credit_usd: '10',
          tpm,
          functions: [promptFunction('ask', 'acme/model', { options: { max_tokens: 400 } })],
          keys: [
            { name: 'first', key: keys.first },
            { name: 'second', key: keys.second },
          ],
        },
        { id: 'poor', credit_usd: '0.0005', tpm, keys: [{ name: 'poor', key: keys.poor, tpm }] },
        { id: 'free', credit_usd: '10', keys: [{ name: 'free', key: keys.free }] },
      ],
    });
    other = await harness.open();
  });
  afterAll(async () => {
    for (const answer of waiting) answer();
    await harness.stop();
    await provider.stop();
  });
  beforeEach(() => clock.advance(2 * minuteMs));

  const by = (key: string) => ({ authorization: `Bearer ${key}` });
  const ask = (gateway: Pick<ServedGateway, 'post'> = harness, headers = {}, more = {}) =>
    gateway.post(hello('acme/model', { ...bound, ...more }), headers);

  /** Makes calls until one is refused. */
  async function fill(headers = {}): Promise<{ servedCount: number; refusal: Response }> {
    for (let servedCount = 0; ; servedCount += 1) {
      const answer = await ask(servedCount % 2 === 0 ? harness : other, headers);
      if (answer.status !== 200) return { servedCount, refusal: answer };
      await answer.text();
    }
  }

  it('of a key count what its calls have used, over all gateways of a store, and come back when they said', async () => {
    const { servedCount, refusal } = await fill();
    // The estimate of the next call is about 410 tokens.
    expect(servedCount * used).toBeGreaterThan(tpm - 420 - used);
    expect(servedCount * used).toBeLessThan(tpm - 400);
    const callsBefore = provider.bodies.length;
    const wait = Number(refusal.headers.get('retry-after'));
    const { message } = await expectError(refusal, 429, 'api_key_rate_limit');
    expect(message).toContain(`${tpm} tokens a minute`);
    clock.advance(wait * 1_000 - 1_000);
    expect((await ask()).status).toBe(429);
    expect(provider.bodies).toHaveLength(callsBefore);
    clock.advance(1_000);
    expect((await ask()).status).toBe(200);
  });

  it('are held while a call runs and come back with its last byte; a call beyond them holds and asks nothing', async () => {
    isHeld = true;
    const running = ask();
    while (waiting.length === 0) await new Promise(setImmediate);
    isHeld = false;
    const callsBefore = provider.bodies.length;
    const before = await harness.credit();
    const refusal = await ask(other);
    await expectError(refusal, 429, 'api_key_rate_limit');
    await other.settled();
    expect(provider.bodies).toHaveLength(callsBefore);
    expect((await harness.credit()).held).toBe(before.held);
    for (const answer of waiting.splice(0)) answer();
    expect(await (await running).json()).toMatchObject({ usage: { total_tokens: used } });
    // No time has passed, so the call did not wait.
    expect((await ask(other)).status).toBe(200);
  });

  it('of a workspace are those of all its keys and functions', async () => {
    const { refusal } = await fill(by(keys.first));
    const { message } = await expectError(refusal, 429, 'rate_limited');
    expect(message).toContain('The workspace shared');
    await expectError(await ask(other, by(keys.second)), 429, 'rate_limited');
    const callsBefore = provider.bodies.length;
    const functionAnswer = await harness.post(hello('gw/function/ask'), {
      ...by(keys.second),
      'idempotency-key': '3f1c0e0a-6b1e-4c53-9c4e-0d6a52f0a001',
    });
    await expectError(functionAnswer, 429, 'rate_limited');
    expect(provider.bodies).toHaveLength(callsBefore);
    expect((await ask(harness, by(keys.free))).status).toBe(200);
    clock.advance(minuteMs);
    const after = await harness.post(hello('gw/function/ask'), {
      ...by(keys.second),
      'idempotency-key': '3f1c0e0a-6b1e-4c53-9c4e-0d6a52f0a001',
    });
    expect(after.status).toBe(200);
  });

  it('are not used by calls that money refuses, that a provider fails, or whose answer is stored', async () => {
    for (let call = 0; call < 3; call += 1) {
      await expectError(await ask(harness, by(keys.poor), { max_tokens: 450 }), 402, 'PAYMENT_REQUIRED');
      await harness.settled();
      await expectError(await harness.post(hello('acme/broken', bound)), 502, 'no_available_provider');
    }
    // The refused calls have released their reservations, which are most of the limit.
    expect((await ask(harness, by(keys.poor), { max_tokens: 10 })).status).toBe(200);
    const headers = { 'idempotency-key': 'stored' };
    const first = await ask(harness, headers);
    expect(first.status).toBe(200);
    await first.text();
    const { servedCount } = await fill();
    expect(servedCount).toBeGreaterThan(0);
    const replay = await ask(harness, headers);
    expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  });

  it('that a stream has used are counted before its client knows its end', async () => {
    const streamText = async (gateway: ServedGateway) =>
      (await gateway.post(hello('acme/stream', { ...bound, stream: true }))).text();
    expect(await streamText(harness)).toContain('[DONE]');
    expect((await ask(other)).status).toBe(200);
  });

  it.each([false, true])(
    'are corrected before the last byte of an answer (stream: %s), however slow the store is',
    async (stream) => {
      const happened: string[] = [];
      const slow = await harness.open({
        wrapStore: (store) =>
          aroundStore(store, async ({ table, changes }, run) => {
            const isCorrection =
              table === 'limits' && Object.values(changes.add ?? {}).some((addition) => Number(addition) < 0);
            // An answer that does not wait for this write ends meanwhile.
            for (let turn = 0; isCorrection && !happened.includes('answered') && turn < 1_000; turn += 1) {
              await new Promise(setImmediate);
            }
            const result = await run();
            if (isCorrection) happened.push('corrected');
            return result;
          }),
      });
      const answer = await slow.post(hello(stream ? 'acme/stream' : 'acme/model', { ...bound, stream }));
      await answer.text();
      happened.push('answered');
      await slow.settled();
      expect(happened).toEqual(['corrected', 'answered']);
    },
  );

  it('are exact if calls come at once: together they never hold more than the limit', async () => {
    isHeld = true;
    const callsBefore = provider.bodies.length;
    const calls = Array.from({ length: 12 }, (_, call) =>
      ask(call % 2 === 0 ? harness : other, {}, { max_tokens: 100 }),
    );
    let refusalCount = 0;
    for (const call of calls) void call.then(({ status }) => (refusalCount += Number(status === 429)));
    while (refusalCount < 8) await new Promise(setImmediate);
    while (provider.bodies.length - callsBefore < 4) await new Promise(setImmediate);
    isHeld = false;
    for (const answer of waiting.splice(0)) answer();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    expect(statuses.filter((status) => status === 429)).toHaveLength(8);
  });

  it('cost two writes a call for each limit, and none if there is none', async () => {
    const counter = countingWrites(harness.testStore.store);
    const gateway = await harness.open({ wrapStore: () => counter.store });
    const writesOf = async (key: string) => {
      // The first call reads and writes the state that later calls find in memory.
      for (const call of [1, 2]) {
        const before = counter.writes();
        await (await ask(gateway, by(key), { max_tokens: 10 })).text();
        await gateway.settled();
        if (call === 2) return counter.writes() - before;
      }
      return 0;
    };
    const free = await writesOf(keys.free);
    expect((await writesOf(keys.first)) - free).toBe(2);
  });
});
