import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { embeddings } from '../../shared/protocol/interfaces/embeddings/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { countOutcomes } from '../support/outcomes.ts';

type Json = Record<string, unknown>;

const capped = newKey();
/** The text of a call of `acme/full`, which reserves one token for each byte of its body. */
const fullCall = JSON.stringify({ model: 'acme/full', input: 'Hello' });
const fullUsd = `0.${String(fullCall.length * 7).padStart(6, '0')}`;

describe('the interface of Embeddings', () => {
  let gateway: Harness;

  beforeAll(async () => {
    const more = { output_price_per_million: '5', max_output_tokens: 1 };
    gateway = await startHarness({
      models: {
        'acme/embed': [{ provider: 'acme', upstream: 'echo', more }],
        // Each text has this whole context for itself.
        'acme/short': [{ provider: 'acme', upstream: 'echo', more: { ...more, context_length: 100 } }],
        'acme/failing': [
          { provider: 'acme', upstream: 'error-500', more },
          { provider: 'globex', upstream: 'echo', more },
        ],
        'acme/full': [{ provider: 'acme', upstream: `usage:${fullCall.length}:0`, more }],
        'acme/silent-usage': [{ provider: 'acme', upstream: 'no-usage', more }],
        'zen/chat-only': [{ provider: 'zen', upstream: 'echo' }],
      },
      providers: {
        acme: { apis: ['embeddings'] },
        globex: { apis: ['embeddings'] },
      },
      moreWorkspaces: [
        {
          id: 'capped',
          credit_usd: '100',
          keys: [{ name: 'seven', key: capped, spend_limit_usd: fullUsd }],
        },
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
  });

  const post = (body: Json, headers: Record<string, string> = {}) =>
    gateway.postTo('/embeddings', { model: 'acme/embed', ...body }, headers);

  it('gives more numbers than an answer may hold values, as the provider wrote them', async () => {
    const body = { input: Array.from({ length: 100 }, (_, index) => `text ${index}`), dimensions: 1_536 };
    const direct = await fetch(`${gateway.simulator.urlOf('acme')}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model: 'echo' }),
    });
    const { data } = (await direct.json()) as { data: unknown[] };
    const answer = (await (await post(body)).json()) as Json;
    expect(answer.data).toEqual(data);
    expect(answer.usage).toMatchObject({ cost: expect.any(Number) });
  });

  it('bills every text, however many contexts of the model they fill, and reserves as much', async () => {
    const input = Array.from({ length: 20 }, (_, index) => `${'word '.repeat(40)}${index}`);
    const { spent } = await gateway.credit();
    const answer = (await (await post({ model: 'acme/short', input })).json()) as { usage: Json };
    const tokens = Number(answer.usage.prompt_tokens);
    expect(tokens).toBeGreaterThan(500);
    expect(answer.usage).toMatchObject({ cost_usd: `0.${String(tokens).padStart(6, '0')}`.replace(/0+$/, '') });
    expect(answer.usage).not.toHaveProperty('estimated');
    expect(await gateway.lastRecord()).toMatchObject({ interfaceId: 'embeddings', promptTokens: tokens });
    expect((await gateway.credit()).spent - spent).toBe(BigInt(tokens) * 1_000_000n);
    expect(gateway.logLines.filter((line) => line.includes('charge_over_hold'))).toEqual([]);
  });

  const send = (key: string, body: string, headers: Record<string, string> = {}) =>
    gateway.postTo('/embeddings', body, { authorization: `Bearer ${key}`, ...headers });

  it('reserves its input alone, so that of forty calls at once exactly the seven pass that a spend limit covers', async () => {
    gateway.simulator.clear();
    const answers = Array.from({ length: 40 }, () => send(capped, fullCall));
    expect(await countOutcomes(answers)).toEqual({ ok: 7, PAYMENT_REQUIRED: 33 });
    expect(gateway.simulator.calls).toHaveLength(7);
    await gateway.settled();
    expect(await expectBalancedBooks(gateway, 'capped')).toBe(BigInt(fullCall.length) * 7n * 1_000_000n);
  });

  it('falls back, replays and caches like a chat completion', async () => {
    const fallback = await post({ model: 'acme/failing', input: 'Hello' });
    expect([fallback.status, fallback.headers.get('x-gw-provider')]).toEqual([200, 'globex']);
    const once = { 'idempotency-key': 'once' };
    const first = await (await post({ input: 'Once' }, once)).text();
    gateway.simulator.clear();
    expect(await (await post({ input: 'Once' }, once)).text()).toBe(first);
    expect(gateway.simulator.calls).toEqual([]);
    const outcomes: (string | null)[] = [];
    for (const _time of [1, 2]) {
      const response = await post({ input: 'Cached', cache: {} });
      await response.text();
      outcomes.push(response.headers.get('x-gw-cache'));
      await gateway.settled();
    }
    expect(outcomes).toEqual(['MISS', 'HIT']);
  });

  it('estimates the input that a provider does not report, within what was reserved', async () => {
    const before = (await gateway.credit()).spent;
    const body = { model: 'acme/silent-usage', input: 'Hello, how are you?' };
    expect((await post(body)).status).toBe(200);
    const last = await gateway.lastRecord();
    expect(last).toMatchObject({ estimated: true, completionTokens: 0 });
    expect(last?.promptTokens).toBeGreaterThan(0);
    expect(last?.promptTokens).toBeLessThanOrEqual(JSON.stringify(body).length);
    expect((await expectBalancedBooks(gateway)) - before).toBe(last?.costPicoUsd);
  });

  it.each<[string, Json, string, string]>([
    ['no input', {}, 'invalid_request', 'input'],
    ['an empty list', { input: [] }, 'invalid_request', 'input'],
    ['an object', { input: { a: 1 } }, 'invalid_request', 'input'],
    ['a list with an object', { input: ['a', {}] }, 'invalid_request', 'input[1]'],
    ['2,049 texts', { input: new Array(2_049).fill('a') }, 'invalid_request', 'input'],
    ['a preset', { input: 'a', preset: 'x' }, 'invalid_request', 'preset'],
    ['a function alias', { input: 'a', model: 'gw/function/x' }, 'invalid_function_request', 'model'],
    ['a model of another interface', { input: 'a', model: 'zen/chat-only' }, 'model_not_routable', 'model'],
  ])('refuses %s before a provider is called', async (_what, body, code, param) => {
    gateway.simulator.clear();
    const response = await post(body, { 'x-gw-error-format': 'openai' });
    expect(await response.json()).toMatchObject({ error: { code, param } });
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('takes 2,048 texts, and a list of any number of tokens as one input', async () => {
    expect((await post({ input: new Array(2_048).fill('a') })).status).toBe(200);
    expect((await post({ input: new Array(5_000).fill(7) })).status).toBe(200);
  });

  it('reads what only begins like vectors in one pass, so that no answer keeps the process busy', async () => {
    // If each beginning were searched to the far end, this would take minutes.
    const read = await embeddings.readAnswer(`{"data":${'"embedding":['.repeat(300_000)}]}`);
    expect(read).toEqual({ kind: 'unreadable' });
  });

  it('changes nothing of an answer but usage, whatever is in it', async () => {
    const cost = { cost: 0, costUsd: '0', mergedUsage: () => ({}) };
    const request = embeddings.readRequest(
      (await import('../../shared/protocol/wire/index.ts')).jsonTextOf({ model: 'a', input: 'a' }),
      { bodyBytes: 9, dropsUnusedFields: false },
    );
    if (!('writeAnswer' in request)) throw request;
    const vector = fc.oneof(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })), fc.string(), fc.json());
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ embedding: vector, name: fc.string() })),
        fc.string(),
        async (data, extra) => {
          const text = JSON.stringify({ data, extra, note: '"embedding": [1, 2]', usage: { prompt_tokens: 1 } });
          const read = await embeddings.readAnswer(text);
          if (read.kind !== 'answer') throw new Error('not read');
          const { body } = request.writeAnswer(read.answer, cost);
          expect(body).toBe(text.replace(/\{"prompt_tokens":1\}\}$/, '{"prompt_tokens":1,"cost":0,"cost_usd":"0"}}'));
        },
      ),
    );
  });
});
