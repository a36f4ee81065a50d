// Answers of providers use the memory budget of a process: an answer that does not fit waits and is refused at last,
// and small answers pass it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { type CallMemory, createMemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { fullOfAnswers } from '../support/full-memory.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import {
  chunkText,
  completionOf,
  type ScriptedProvider,
  sendJson,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

const maxBytes = 3 * 1024 * 1024;
/** On this clock two seconds pass in forty milliseconds. */
const fastClock: Clock = {
  nowMs: systemClock.nowMs,
  after: (delayMs, callback) => systemClock.after(delayMs / 50, callback),
};

const answerOf = (characters: number) => completionOf({ content: 'a'.repeat(characters) });
const chunk = (content: string, finish_reason: string | null) => chunkText({ content }, finish_reason);
const wantedSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const longStream = [...Array(40).fill(chunk('a'.repeat(20_000), null)), chunk('', 'stop'), '[DONE]'];

describe('an answer of a provider', () => {
  const budget = createMemoryBudget(fastClock, { maxBytes });
  let provider: ScriptedProvider;
  let gateway: Harness;
  let other: Pick<CallMemory, 'end'> | undefined;
  let characters = 0;
  let isChunked = false;
  let longEvent = false;
  /** The bytes in use at each answer of the provider, and at each write of a stored answer. */
  let bytesInUse: number[] = [];
  const noteBytes = () => void bytesInUse.push(budget.bytesInUse());

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing, call) => {
      if (provider.bodies[call]?.includes('"stream":true')) {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        const stream = longEvent ? [chunk('a'.repeat(800_000), null), chunk('', 'stop'), '[DONE]'] : longStream;
        return void outgoing.end(stream.map((text) => `data: ${text}\n\n`).join(''));
      }
      noteBytes();
      const body = answerOf(characters);
      if (!isChunked) outgoing.setHeader('content-length', Buffer.byteLength(body));
      sendJson(outgoing, body);
    });
    gateway = await startHarness({
      models: {
        'acme/model': [
          { provider: 'acme', upstream: 'scripted' },
          { provider: 'other', upstream: 'echo', more: { input_price_per_million: '9' } },
        ],
        // Two of these requests have more tokens than a minute of this provider allows.
        'acme/limited': [{ provider: 'acme', upstream: 'scripted', more: { rate_limit_tpm: 10_000 } }],
      },
      providers: { acme: { base_url: provider.url } },
      replace: () => ({ memory: budget }),
      wrapStore: (store) => ({
        ...store,
        update(update, options) {
          if (update.table === 'idempotency') noteBytes();
          return store.update(update, options);
        },
      }),
    });
  });
  afterEach(async () => {
    other?.end();
    await gateway.settled();
    expect(budget.bytesInUse()).toBe(0);
  });
  afterAll(async () => {
    await expectBalancedBooks(gateway);
    await gateway.stop();
    await provider.stop();
  });

  /** Fills the memory with answers of other calls. */
  async function occupy(): Promise<void> {
    other = await fullOfAnswers(budget, maxBytes);
  }

  it.each([true, false])('waits for memory and is served once there is some (chunked: %s)', async (chunked) => {
    [characters, isChunked] = [200_000, chunked];
    await occupy();
    const answer = gateway.post(hello('acme/model'));
    const otherMemory = other;
    fastClock.after(1_000, () => otherMemory?.end());
    const response = await answer;
    expect(response.status).toBe(200);
    expect(((await response.json()) as { usage: object }).usage).toMatchObject({ provider: 'acme', attempts: 1 });
  });

  it.each([true, false])(
    'that finds none is refused with 503, charged, and sent to no other provider (chunked: %s)',
    async (chunked) => {
      [characters, isChunked] = [200_000, chunked];
      await occupy();
      const callsBefore = provider.bodies.length;
      const { available } = await gateway.credit();
      const response = await gateway.post(hello('acme/model'));
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      const { message } = await expectError(response, 503, 'RATE_LIMITER_UNAVAILABLE');
      expect(message).toContain('memory');
      await gateway.settled();
      expect(provider.bodies.length - callsBefore).toBe(1);
      expect((await gateway.credit()).available).toBeLessThan(available);
      const line = gateway.logLines.map((text) => JSON.parse(text)).findLast(({ event }) => event === 'attempt_failed');
      expect(line).toMatchObject({ provider: 'acme', outcome: 'no_memory' });
    },
  );

  it('is not asked for if what is sent finds no memory: 503, nothing charged, and the tokens of the provider are free again', async () => {
    [characters, isChunked] = [2_000, false];
    const request = { ...hello('acme/limited'), messages: [{ role: 'user', content: 'a'.repeat(10_000) }] };
    const openMemory = budget.open();
    await openMemory.openRequest().take({ workspace: 'another', bytes: (maxBytes * 2) / 3, isLarge: false });
    other = openMemory;
    const callsBefore = provider.bodies.length;
    const { available } = await gateway.credit();
    const { message } = await expectError(await gateway.post(request), 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(message).toContain('memory');
    await gateway.settled();
    expect(provider.bodies.length).toBe(callsBefore);
    expect((await gateway.credit()).available).toBe(available);
    const line = gateway.logLines.map((text) => JSON.parse(text)).findLast(({ event }) => event === 'attempt_failed');
    expect(line).toMatchObject({ provider: 'acme', outcome: 'no_memory' });
    openMemory.end();
    expect((await gateway.post(request)).status).toBe(200);
  });

  it('that fails its schema is kept no longer once another one is asked for', async () => {
    [characters, isChunked, bytesInUse] = [200_000, false, []];
    const schema = { type: 'json_schema', json_schema: { name: 'a', strict: true, schema: wantedSchema } };
    const response = await gateway.post(hello('acme/model', { response_format: schema }));
    expect(response.status).toBe(422);
    expect(bytesInUse.length).toBeGreaterThan(1);
    expect(Math.max(...bytesInUse)).toBeLessThan(characters);
  });

  it.each([
    [false, 2],
    [true, 3],
  ])(
    'that was written for the client is kept as that and its bytes, and once more for the cache (%s)',
    async (isCached, copies) => {
      [characters, isChunked, bytesInUse] = [200_000, true, []];
      const cache = isCached ? { cache: { ttl: 60 } } : {};
      const response = await gateway.post(hello('acme/model', cache), { 'idempotency-key': `json-${isCached}` });
      const { length } = await response.text();
      expect(bytesInUse.length).toBeGreaterThan(1);
      expect(bytesInUse.at(-1)).toBeGreaterThan((copies - 0.1) * length);
      expect(bytesInUse.at(-1)).toBeLessThan((copies + 0.1) * length);
    },
  );

  it('that is small waits for no large one', async () => {
    [characters, isChunked] = [2_000, false];
    await occupy();
    expect((await gateway.post(hello('acme/model'))).status).toBe(200);
  });

  it.each(['its Idempotency-Key', 'its schema'])(
    'that is a stream waits for the allocation of what is kept of it for %s',
    async (why) => {
      await occupy();
      const otherMemory = other;
      let isFree = false;
      fastClock.after(5_000, () => {
        isFree = true;
        otherMemory?.end();
      });
      const schema = {
        response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } },
      };
      const request = { ...hello('acme/model'), stream: true, ...(why === 'its schema' ? schema : {}) };
      // Only clients of OpenAI's base URL get an answer with a schema as a stream.
      const answer = await fetch(`${gateway.url.replace(/v1$/, 'openai/v1')}/chat/completions`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          ...(why === 'its schema' ? {} : { 'idempotency-key': 'kept' }),
        },
        body: JSON.stringify(request),
      });
      const text = await answer.text();
      expect([isFree, text.match(/a{20000}/g)?.length]).toEqual([true, 40]);
      if (why === 'its schema') expect(text).toContain('is not JSON');
      else expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    },
  );

  it('that is a stream of one event for which there is no memory is refused with 503, charged, and sent to no other provider', async () => {
    longEvent = true;
    await occupy();
    const [callsBefore, { available }] = [provider.bodies.length, await gateway.credit()];
    const response = await gateway.post({ ...hello('acme/model'), stream: true });
    longEvent = false;
    await expectError(response, 503, 'RATE_LIMITER_UNAVAILABLE');
    await gateway.settled();
    expect(provider.bodies.length - callsBefore).toBe(1);
    expect((await gateway.credit()).available).toBeLessThan(available);
  });

  it('that is a stream and fits is stored, and let go once it is', async () => {
    const post = () => gateway.post({ ...hello('acme/model'), stream: true }, { 'idempotency-key': 'stored' });
    const text = await (await post()).text();
    await gateway.settled();
    const again = await post();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.text()).toBe(text);
  });
});
