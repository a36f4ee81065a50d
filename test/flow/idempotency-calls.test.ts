// The same Idempotency-Key gives one provider call, one charge and one answer byte for byte, for JSON and streams.
// `interface-conformance` covers every interface and format.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { requestBudgetMs } from '../../shared/foundation/constants/index.ts';
import { collect } from '../../shared/foundation/parallel/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { readUntil } from '../support/read-stream.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

const upstreams = ['echo', 'usage:1000:500', 'huge:900000', 'silent', 'error-after-chunks:3', 'endless:1'];
const models = Object.fromEntries(upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]]));
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

let harness: Harness;
let clock: ManualClock;
let names = 0;
const other = newKey();

beforeAll(async () => {
  clock = manualClock();
  harness = await startHarness({
    clock,
    models,
    moreWorkspaces: [{ id: 'other', credit_usd: '1', keys: [{ name: 'k', key: other }] }],
  });
});
afterAll(() => harness.stop());
beforeEach(async () => {
  await harness.settled();
  harness.simulator.clear();
});

const fresh = () => ({ 'idempotency-key': `key-${++names}` });
const calls = () => harness.simulator.calls.length;

describe.each([false, true])('an Idempotency-Key, stream %s', (stream) => {
  const body = (upstream: string, more = {}) => hello(`acme/${upstream}`, { stream, ...more });

  it('costs two writes once its answer is stored: there is nothing to release', async () => {
    const writes: string[] = [];
    const counting = (store: Store): Store => ({
      ...store,
      put: (put, options) => {
        if (put.table === 'idempotency') writes.push('put');
        return store.put(put, options);
      },
      update: (update, options) => {
        if (update.table === 'idempotency') writes.push('update');
        return store.update(update, options);
      },
    });
    const door = await harness.open({ wrapStore: counting });
    await (await door.post(body('usage:1000:500'), fresh())).text();
    await door.settled();
    expect(writes).toEqual(['put', 'update']);
  });

  it('gets a retry time while the original runs, and the wait ends with its lease', async () => {
    const name = fresh();
    const client = new AbortController();
    const running = harness.post(body('silent'), name, client.signal);
    running.catch(() => {});
    await harness.simulator.until((calls) => calls.length === 1);
    const refusal = await harness.post(body('silent'), name);
    expect(refusal.headers.get('retry-after')).toBe('2');
    await expectError(refusal, 409, 'execution_in_progress');
    await expectError(await harness.post(body('silent', { seed: 1 }), name), 409, 'idempotency_conflict');
    expect(calls()).toBe(1);
    client.abort();
    clock.advance(requestBudgetMs);
    await harness.settled();
    // The call left nothing stored: the key runs again, even with another body.
    expect(await outcomeOf(await harness.post(body('echo'), name))).toBe('ok');
  });

  it.each(stream ? ['usage:1000:500', 'huge:900000'] : ['usage:1000:500'])(
    'gives the answer again byte for byte, without charge: %s',
    async (upstream) => {
      const name = fresh();
      const first = await harness.post(body(upstream), name);
      const text = await first.text();
      expect(first.status).toBe(200);
      await harness.settled();
      const spent = await expectBalancedBooks(harness);
      const second = await harness.open();
      for (const door of [harness, second]) {
        const replay = await door.post(body(upstream), name);
        expect(replay.headers.get('idempotent-replayed')).toBe('true');
        for (const header of ['content-type', 'x-gw-model', 'x-gw-provider', 'cache-control']) {
          expect(replay.headers.get(header)).toBe(first.headers.get(header));
        }
        expect(replay.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
        const again = await replay.text();
        expect(again === text).toBe(true);
        await door.settled();
      }
      expect(first.headers.get('idempotent-replayed')).toBeNull();
      expect(calls()).toBe(1);
      expect(await expectBalancedBooks(harness)).toBe(spent);
    },
  );

  it('with another body or other correlation headers is a conflict, and the stored answer stays', async () => {
    const name = { ...fresh(), 'x-gw-trace-id': traceId, 'x-gw-session-id': 's' };
    const text = await (await harness.post(body('echo'), name)).text();
    const changedPairs: [object, object][] = [
      [{ seed: 1 }, {}],
      [{ user: null }, {}],
      [{ stream: !stream }, {}],
      [{}, { 'x-gw-trace-id': 'other' }],
      [{}, { 'x-gw-session-id': 'other' }],
      [{}, { 'x-gw-span-id': 'one-more' }],
      [{}, { 'x-gw-parent-span-id': 'one-more' }],
      [{}, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }],
      [{}, { 'x-byok-key': 'sk-mine' }],
    ];
    for (const [members, headers] of changedPairs) {
      const response = await harness.post(body('echo', members), { ...name, ...headers });
      expect(response.headers.get('x-should-retry')).toBe('false');
      await expectError(response, 409, 'idempotency_conflict');
    }
    expect(calls()).toBe(1);
    const reordered = Object.fromEntries(Object.entries(body('echo')).toReversed());
    const sessionAlias = {
      'idempotency-key': name['idempotency-key'],
      'x-gw-trace-id': traceId,
      'x-session-id': 's',
    };
    expect(await (await harness.post(reordered, { ...sessionAlias, 'x-title': 'another app' })).text()).toBe(text);
    expect(calls()).toBe(1);
  });
});

describe('an Idempotency-Key', () => {
  const plain = (upstream: string, more = {}) => hello(`acme/${upstream}`, more);

  it('whose answer could not be stored at once is stored after its end, and a retry calls no provider', async () => {
    let failures = 2;
    const failing = (store: Store): Store => ({
      ...store,
      update: (update, options) => {
        if (update.table !== 'idempotency' || failures === 0) return store.update(update, options);
        failures -= 1;
        return Promise.reject(new StoreUnavailable(new Error('away')));
      },
    });
    const waiting = { nowMs: clock.nowMs, after: systemClock.after };
    const door = await harness.open({ wrapStore: failing, clock: waiting });
    const name = fresh();
    const first = await door.post(plain('usage:1000:500', { stream: true }), name);
    expect(first.status).toBe(200);
    const text = await first.text();
    await door.settled();
    expect(failures).toBe(0);
    const again = await door.post(plain('usage:1000:500', { stream: true }), name);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.text()).toBe(text);
    expect(calls()).toBe(1);
  });

  it('replays before anything that changed since: model, credit, catalogue, presets', async () => {
    const clock = manualClock();
    const otherHarness = await startHarness({ clock, models });
    const name = fresh();
    const text = await (await otherHarness.post(plain('echo', { preset: null }), name)).text();
    await otherHarness.settled();
    await otherHarness.apply({ models: { 'acme/silent': [{ provider: 'acme', upstream: 'echo' }] } });
    clock.advance(6_000);
    const replay = await otherHarness.post(plain('echo', { preset: null }), name);
    expect(await replay.text()).toBe(text);
    await expectError(await otherHarness.post(plain('echo')), 400, 'unknown_model');
    await otherHarness.apply({ models, workspace: { spend_limit_usd: '0' } });
    clock.advance(6_000);
    expect(await (await otherHarness.post(plain('echo', { preset: null }), name)).text()).toBe(text);
    await expectError(await otherHarness.post(plain('echo')), 402, 'PAYMENT_REQUIRED');
    expect(otherHarness.simulator.calls).toHaveLength(1);
    await otherHarness.stop();
  });

  it('belongs to its workspace, and ends after 24 hours', async () => {
    const name = fresh();
    expect(await outcomeOf(await harness.post(plain('echo'), name))).toBe('ok');
    const stranger = await harness.post(plain('echo', { seed: 9 }), { ...name, authorization: `Bearer ${other}` });
    expect(stranger.headers.get('idempotent-replayed')).toBeNull();
    expect(await outcomeOf(stranger)).toBe('ok');
    clock.advance(24 * 3_600_000 - 1_000);
    const replay = await harness.post(plain('echo'), name);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    await replay.text();
    clock.advance(2_000);
    const anew = await harness.post(plain('echo', { seed: 2 }), name);
    expect(anew.headers.get('idempotent-replayed')).toBeNull();
    expect(await outcomeOf(anew)).toBe('ok');
    expect(calls()).toBe(3);
  });

  it('of a stream that its client left keeps nothing of it', async () => {
    const name = fresh();
    const client = new AbortController();
    const response = await harness.post(hello('acme/endless:1', { stream: true }), name, client.signal);
    await readUntil(response, 'and on');
    client.abort();
    clock.advance(requestBudgetMs);
    await harness.settled();
    const again = await harness.post(hello('acme/echo'), name);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    expect(await outcomeOf(again)).toBe('ok');
  });

  it('keeps an answer of the response cache like any other', async () => {
    // Answers of Responses are cached only if no provider stores them.
    const body = hello('acme/echo', { cache: { namespace: 'idem' }, store: false });
    expect(await outcomeOf(await harness.post(body))).toBe('ok');
    await harness.settled();
    const name = fresh();
    const hit = await harness.post(body, name);
    expect(hit.headers.get('x-gw-cache')).toBe('HIT');
    const text = await hit.text();
    clock.advance(400_000);
    const replay = await harness.post(body, name);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(await replay.text()).toBe(text);
    await expectError(await harness.post({ ...body, seed: 1 }, name), 409, 'idempotency_conflict');
    expect(calls()).toBe(1);
  });
});

describe('a thousand at once', () => {
  const retries = { headers: { 'idempotency-key': 'storm' }, code: 'execution_in_progress' };
  const ofOneSpan = { headers: { 'x-gw-trace-id': traceId, 'x-gw-span-id': 'storm' }, code: 'duplicate_span_id' };

  it('retries of one Idempotency-Key and calls under one span id are served or refused for what they are, and run once', async () => {
    const storm = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
    const answers = Array.from({ length: 1_000 }, async (_none, at) => {
      const calls = at % 2 === 0 ? retries : ofOneSpan;
      const post = () => storm.post(hello('acme/echo'), calls.headers);
      // Among a thousand simultaneous connections of this process the machine may fail one; its client sends the call
      // again.
      const answer = await post().catch((error) => {
        process.stderr.write(`a connection failed: ${error.cause}\n`);
        return post();
      });
      const outcome = await outcomeOf(answer);
      return outcome === calls.code ? 'refused' : outcome;
    });
    expect(new Set([...(await Promise.all(answers)), 'refused'])).toEqual(new Set(['ok', 'refused']));
    expect(storm.simulator.calls).toHaveLength(2);
    await storm.settled();
    expect((await storm.records()).filter(({ attempts }) => attempts > 0)).toHaveLength(2);
    await storm.stop();
  });
});

describe('an Idempotency-Key of a long stream', () => {
  const eventBytes = 9 * 1024 * 1024;
  const events = 4;
  let harness: Harness;
  let provider: ScriptedProvider;

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      const usage = { prompt_tokens: 1, completion_tokens: 10, total_tokens: 11 };
      for (let remaining = events; remaining > 0; remaining -= 1) {
        const choices = [
          { index: 0, delta: { content: 'x'.repeat(eventBytes) }, finish_reason: remaining === 1 ? 'stop' : null },
        ];
        outgoing.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', choices, usage })}\n\n`);
      }
      outgoing.end('data: [DONE]\n\n');
    });
    harness = await startHarness({
      models: { 'acme/long': [{ provider: 'acme', upstream: 'long' }] },
      providers: { acme: { base_url: provider.url } },
    });
  });
  afterAll(async () => {
    await harness.stop();
    await provider.stop();
  });

  const call = (name: string) =>
    harness.post(hello('acme/long', { stream: true, max_tokens: 100 }), { 'idempotency-key': name });

  it('is used up if its answer is longer than 32 MiB: no retry runs or is charged', async () => {
    expect((await (await call('unstored')).text()).length).toBeGreaterThan(32 * 1024 * 1024);
    await harness.settled();
    const { spent } = await harness.credit();
    for (const _retry of [1, 2]) {
      const error = await expectError(await call('unstored'), 409, 'idempotency_conflict');
      expect(error.message).toContain('its answer could not be stored');
    }
    await harness.settled();
    expect((await harness.credit()).spent).toBe(spent);
    expect(provider.bodies).toHaveLength(1);
  });
});

describe('a stream that broke', () => {
  it('ends once its Idempotency-Key is free, so that a client that retries at once is served', async () => {
    const order: string[] = [];
    const door = await harness.open({
      wrapStore: (store) => ({
        ...store,
        async update(update, options) {
          if (update.table !== 'idempotency') return store.update(update, options);
          // Other calls pass meanwhile; a release that did not wait would be in the store by then.
          for (let call = 0; call < 3; call += 1) await outcomeOf(await harness.post(hello('acme/echo')));
          const answer = await store.update(update, options);
          order.push('free');
          return answer;
        },
      }),
    });
    const name = fresh();
    const brokenText = await (await door.post(hello('acme/error-after-chunks:3', { stream: true }), name)).text();
    order.push('ended');
    expect(brokenText).toContain('"error"');
    expect(order).toEqual(['free', 'ended']);
    const before = calls();
    expect(await (await harness.post(hello('acme/error-after-chunks:3', { stream: true }), name)).text()).toContain(
      '"error"',
    );
    expect(calls()).toBe(before + 1);
  });
});

describe('an Idempotency-Key under zdr', () => {
  const harnesses: Harness[] = [];
  afterAll(() => Promise.all(harnesses.map((one) => one.stop())));

  async function started(workspace: Record<string, unknown>): Promise<Harness> {
    const one = await startHarness({
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
      providers: { acme: { data_policy: { zdr: true } } },
      workspace,
    });
    harnesses.push(one);
    return one;
  }
  const keysIn = ({ testStore }: Harness) => collect(testStore.store.scan('idempotency'));
  const underZdr = { provider: { zdr: true } };
  const preset = { slug: 'strict', versions: [{ version: '1', config: underZdr }], designated: '1' };
  const zdr: { of: string; workspace: Record<string, unknown>; members: Record<string, unknown> }[] = [
    { of: 'the request', workspace: {}, members: underZdr },
    { of: 'the workspace', workspace: { data_policy: { zdr: true } }, members: {} },
    { of: 'a preset', workspace: { features: { presets: true }, presets: [preset] }, members: { preset: 'strict' } },
  ];

  it.each(zdr)(
    'is refused by a workspace that stores no answers then, before any provider is called or anything is kept: of $of',
    async ({ workspace, members }) => {
      const refusing = await started({ ...workspace, idempotency: { zdr: 'refuse' } });
      for (const stream of [false, true]) {
        const body = hello('acme/echo', { stream, ...members });
        const error = await expectError(await refusing.post(body, fresh()), 400, 'invalid_request');
        expect(error.message).toContain('Idempotency-Key');
        await refusing.settled();
        expect(refusing.simulator.calls).toHaveLength(0);
        expect(await keysIn(refusing)).toEqual([]);
        expect(await outcomeOf(await refusing.post(body))).toBe('ok');
        refusing.simulator.clear();
      }
    },
  );

  it.each(zdr)('is answered from its stored answer if its workspace says nothing: of $of', async (of) => {
    const storing = await started(of.workspace);
    const headers = fresh();
    const [first, again] = [
      await storing.post(hello('acme/echo', of.members), headers),
      await storing.post(hello('acme/echo', of.members), headers),
    ];
    expect(await again.text()).toBe(await first.text());
    expect([first.status, storing.simulator.calls.length]).toEqual([200, 1]);
  });

  it('is not refused by such a workspace if a call has no zdr', async () => {
    const refusing = await started({ idempotency: { zdr: 'refuse' } });
    expect(await outcomeOf(await refusing.post(hello('acme/echo'), fresh()))).toBe('ok');
  });
});
