import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { parseUsd } from '../../shared/foundation/money/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';
import { png } from '../support/png.ts';
import { startScriptedGateway } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';

const tiers = [
  {
    above_prompt_tokens: 200_000,
    input_price_per_million: '10',
    output_price_per_million: '20',
    cached_input_price_per_million: '1',
    cache_write_input_price_per_million: '12',
  },
];
const long = { context_length: 1_000_000, price_tiers: tiers, cached_input_price_per_million: '0.5' };

describe('what an entry says of prices and bounds', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({
      service: { default_output_tokens: 4_000 },
      providers: {
        acme: { apis: ['chat-completions', 'responses', 'embeddings'] },
        like: { kind: 'openai', apis: ['chat-completions', 'responses'] },
        gemini: { apis: ['generate-content'] },
      },
      moreWorkspaces: [{ id: 'poor', credit_usd: '9', keys: [{ name: 'k', key: poorKey, spend_limit_usd: '0.002' }] }],
      models: {
        below: [{ provider: 'acme', upstream: 'usage:200000:1000:50000:0:30000', more: long }],
        above: [{ provider: 'acme', upstream: 'usage:200001:1000:50000:0:30000', more: long }],
        plain: [
          {
            provider: 'acme',
            upstream: 'usage:200001:1000:50000:0:30000',
            more: {
              ...long,
              price_tiers: [
                { above_prompt_tokens: 100_000, input_price_per_million: '9', output_price_per_million: '9' },
                { above_prompt_tokens: 200_000, input_price_per_million: '10', output_price_per_million: '20' },
              ],
            },
          },
        ],
        held: [
          { provider: 'acme', upstream: 'echo', more: { price_tiers: [{ ...tiers[0], above_prompt_tokens: 2_000 }] } },
        ],
        bounded: [{ provider: 'acme', upstream: 'echo', more: { default_output_tokens: 1_000 } }],
        named: [{ provider: 'like', upstream: 'echo', more: { default_output_tokens: 1_000 } }],
        translated: [{ provider: 'gemini', upstream: 'echo', more: { default_output_tokens: 1_000 } }],
        service: [{ provider: 'acme', upstream: 'echo' }],
        small: [{ provider: 'acme', upstream: 'echo', more: { max_output_tokens: 50 } }],
        vectors: [{ provider: 'acme', upstream: 'echo', more: { apis: ['embeddings'] } }],
      },
    });
  });
  afterAll(async () => {
    await expectBalancedBooks(harness);
    await harness.stop();
  });

  const costOf = async (model: string) => {
    const answer = await harness.post(hello(model));
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { usage: { cost_usd: string } }).usage.cost_usd;
  };
  async function sentBody(body: object, path = '/chat/completions'): Promise<Record<string, unknown>> {
    harness.simulator.clear();
    const answer = await send(harness, body, path, harness.key);
    expect(answer.status).toBe(200);
    return harness.simulator.calls[0]?.body as Record<string, unknown>;
  }

  it('a prompt of exactly the bound of a tier is priced below it, and one token more the whole call by the tier', async () => {
    // 120,000 tokens at 1, 50,000 cached at 0.5, 30,000 written at the input price, 1,000 of output at 2.
    expect(await costOf('below')).toBe('0.177');
    // 120,001 tokens at 10, 50,000 cached at 1, 30,000 written at 12, 1,000 of output at 20.
    expect(await costOf('above')).toBe('1.63001');
    // The last tier that is reached counts, and classes without a price in it count as input: 200,001 tokens at 10,
    // 1,000 of output at 20.
    expect(await costOf('plain')).toBe('2.02001');
  });

  it('a hold takes the most expensive tier that its input can reach: at the bound that below it, one token more that above', async () => {
    const neededFor = async (characters: number) => {
      const messages = [{ role: 'user', content: 'x'.repeat(characters) }];
      const answer = await poor(harness, { model: 'held', messages, max_tokens: 1_000 });
      return parseUsd(/may cost ([\d.]+) USD/.exec(answer.message)?.[1] ?? '') ?? 0n;
    };
    const heldOutput = 1_000n * 2_000_000n;
    // This is the most tokens that a prompt of this length counts as; each further character is one token.
    const tokensOf1000 = ((await neededFor(1_000)) - heldOutput) / 1_000_000n;
    const atBound = 1_000 + 2_000 - Number(tokensOf1000);
    expect(await neededFor(atBound)).toBe(2_000n * 1_000_000n + heldOutput);
    // The highest input price is that of tokens written into a cache.
    expect(await neededFor(atBound + 1)).toBe(2_001n * 12_000_000n + 1_000n * 20_000_000n);
  });

  it('a call without a bound is sent the default one, under the name that the kind of its provider takes', async () => {
    expect(await sentBody(hello('bounded'))).toMatchObject({ max_tokens: 1_000 });
    const namedBody = await sentBody(hello('named'));
    expect(namedBody).toMatchObject({ max_completion_tokens: 1_000 });
    expect(namedBody).not.toHaveProperty('max_tokens');
    expect(await sentBody({ model: 'named', input: 'Hello' }, '/responses')).toMatchObject({
      max_output_tokens: 1_000,
    });
    expect(await sentBody(hello('translated'))).toMatchObject({ generationConfig: { maxOutputTokens: 1_000 } });
    expect(await sentBody(hello('service'))).toMatchObject({ max_tokens: 4_000 });
    expect(await sentBody(hello('small'))).toMatchObject({ max_tokens: 50 });
  });

  it('a bound that the client sends is the one that counts, and -1 is that of the entry', async () => {
    expect(await sentBody(hello('named', { max_tokens: 7 }))).not.toHaveProperty('max_completion_tokens');
    const unbounded = await sentBody(hello('bounded', { n_predict: -1 }));
    expect(unbounded).toMatchObject({ n_predict: -1 });
    expect(unbounded).not.toHaveProperty('max_tokens');
  });

  it('a 402 says what is reserved, which bound would be covered, and what the operator can write', async () => {
    const { message } = await poor(harness, hello('bounded'));
    expect(message).toMatch(
      /^The call may cost 0\.002\d+ USD, and 0\.00\d+ USD of the spend limit of the key is available\./,
    );
    expect(message).toMatch(/With max_tokens (\d+) it would need 0\.00\d+ USD, which is covered\./);
    expect(message).toContain('default_output_tokens');
    const covered = Number(/With max_tokens (\d+)/.exec(message)?.[1]);
    expect((await poor(harness, hello('bounded', { max_tokens: covered }))).status).toBe(200);
    expect((await poor(harness, hello('bounded', { max_tokens: covered + 1 }))).status).toBe(402);
    // The message has the field's name in the client's interface.
    const asResponse = await send(harness, { model: 'bounded', input: 'Hello' }, '/responses', poorKey);
    expect(asResponse.status).toBe(402);
    expect(await asResponse.text()).toMatch(/With max_output_tokens \d+ it would need/);
  });

  it('an entry that narrows the interfaces of its provider serves no other', async () => {
    const refusal = await harness.post(hello('vectors'));
    expect(await refusal.json()).toMatchObject({ error: 'model_not_routable' });
    const response = await send(harness, { model: 'vectors', input: 'Hello' }, '/embeddings', harness.key);
    expect(response.status).toBe(200);
    const { data } = (await (await harness.get('/models')).json()) as { data: { id: string; apis?: string[] }[] };
    expect(data.find(({ id }) => id === 'vectors')?.apis).toEqual(['embeddings']);
  });
});

const poorKey = newKey();

/** Sends any call through the harness: with another key, or of another interface. */
const send = (harness: Harness, body: object, path: string, key: string): Promise<Response> =>
  harness.postTo(path, body, { authorization: `Bearer ${key}` });

/** Sends a call with a key that may spend a fifth of a cent. */
async function poor(harness: Harness, body: object): Promise<{ readonly status: number; readonly message: string }> {
  const answer = await send(harness, body, '/chat/completions', poorKey);
  const { message = '' } = (await answer.json()) as { message?: string };
  return { status: answer.status, message };
}

// A provider reports usage early and goes on: output after the report is charged too.
describe('a report that comes early', () => {
  let scriptedGateway: Awaited<ReturnType<typeof startScriptedGateway>>;
  let gateway: Harness;
  let script: { readonly lines: readonly object[]; readonly isCut: boolean };

  beforeAll(async () => {
    scriptedGateway = await startScriptedGateway((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const line of script.lines) outgoing.write(`data: ${JSON.stringify(line)}\n\n`);
      // The socket is destroyed only after the write has ended, because a destroyed socket drops what waits in it.
      outgoing.write('', () => (script.isCut ? outgoing.destroy() : outgoing.end('data: [DONE]\n\n')));
    });
    gateway = scriptedGateway.gateway;
  });
  afterAll(() => scriptedGateway.stop());

  const early = { prompt_tokens: 10, completion_tokens: 1 };
  const delta = (content: string, more = {}) => ({ choices: [{ index: 0, delta: { content } }], ...more });
  const end = (more = {}) => ({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...more });
  const forty = Array.from({ length: 40 }, () => delta('ten bytes.'));

  async function usageOf(lines: readonly object[]): Promise<Record<string, unknown>> {
    script = { lines, isCut: false };
    const response = await gateway.post(hello('acme/model', { stream: true, usage: { include: true } }));
    const chunks = (await response.text())
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)) as { usage?: Record<string, unknown> });
    return chunks.at(-1)?.usage ?? {};
  }

  it('counts what came after the report by its bytes, and says that it is an estimate', async () => {
    // One token was reported, and 400 bytes at four a token follow it.
    const usage = await usageOf([delta('a', { usage: early }), ...forty, end()]);
    expect(usage).toMatchObject({ cost_usd: String((10 * 1 + 101 * 2) / 1_000_000), estimated: true });
  });

  it('takes the last report at its word if nothing came after it', async () => {
    const last = { prompt_tokens: 10, completion_tokens: 60 };
    const usage = await usageOf([delta('a', { usage: early }), ...forty, end({ usage: last })]);
    expect(usage).toMatchObject({ cost_usd: String((10 * 1 + 60 * 2) / 1_000_000) });
    expect(usage).not.toHaveProperty('estimated');
  });

  it.each([
    ['one early report', [delta('a', { usage: early }), ...forty], 101],
    ['zeros with every chunk', forty.map((chunk) => ({ ...chunk, usage: { ...early, completion_tokens: 0 } })), 100],
  ])('charges a stream that broke for what was relayed, whatever it reported: %s', async (_name, lines, tokens) => {
    script = { lines, isCut: true };
    const credit = () => gateway.composition.credit.show({ workspace: 'team', spendLimit: null });
    await eventually(async () => (await credit()).held === 0n);
    const before = (await credit()).spent;
    const response = await gateway.post(hello('acme/model', { stream: true }));
    expect(await response.text()).toContain('no_available_provider');
    await eventually(async () => (await credit()).held === 0n);
    expect((await credit()).spent - before).toBe(BigInt(10 * 1 + tokens * 2) * 1_000_000n);
  });

  it('is whole once every choice has finished, however the connection then ends', async () => {
    script = { lines: [delta('Hello'), end({ usage: early })], isCut: true };
    const response = await gateway.post(hello('acme/model', { stream: true }), { 'idempotency-key': 'a-whole-stream' });
    const text = await response.text();
    expect(text).not.toContain('error');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await gateway.lastRecord()).toMatchObject({ outcome: 'ok' });
    const calls = scriptedGateway.provider.bodies.length;
    const again = await gateway.post(hello('acme/model', { stream: true }), { 'idempotency-key': 'a-whole-stream' });
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text]);
    expect(scriptedGateway.provider.bodies).toHaveLength(calls);
  });

  it('keeps the counts of a report when a later one has none', async () => {
    const usage = await usageOf([
      delta('a'),
      end({ usage: { prompt_tokens: 10, completion_tokens: 60 } }),
      end({ usage: {} }),
    ]);
    expect(usage).toMatchObject({ cost_usd: String((10 * 1 + 60 * 2) / 1_000_000) });
    expect(usage).not.toHaveProperty('estimated');
  });
});

// Usage that is impossible or missing: no provider can make a call cost more than the call could have used, and no
// estimate of the gateway exceeds the call's reservation.
describe('usage that cannot be, or is not reported', () => {
  const poor = newKey();
  const upstreams = { billion: 'usage:10:1000000000', prompt: 'usage:1000000000:5', fine: 'usage:10:100' };

  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        ...Object.fromEntries(
          Object.entries(upstreams).map(([id, upstream]) => [`acme/${id}`, [{ provider: 'acme', upstream }]]),
        ),
        'additive/billion': [{ provider: 'additive', upstream: upstreams.billion }],
        'acme/unreported': [{ provider: 'acme', upstream: 'no-usage' }],
        'acme/limited': [{ provider: 'acme', upstream: 'no-usage', more: { rate_limit_tpm: 40_000 } }],
      },
      // The model accepts audio, so that the call is admitted and estimated.
      modelMembers: { 'acme/unreported': { modalities: ['text', 'image', 'audio'] } },
      service: { queue_ms: 0 },
      moreWorkspaces: [{ id: 'poor', credit_usd: '1', keys: [{ name: 'poor', key: poor }] }],
      providers: { additive: { reasoning_tokens: 'additive' } },
    });
  });
  afterAll(() => gateway.stop());

  interface Usage {
    readonly cost_usd: string;
    readonly prompt_tokens: number;
    readonly estimated?: boolean;
    readonly completion_tokens: number;
  }

  async function usageOf(model: string, more: Record<string, unknown>): Promise<Usage> {
    const response = await gateway.post(hello(model, { usage: { include: true }, ...more }));
    const text = await response.text();
    expect(response.status).toBe(200);
    const json = more.stream === true ? (dataLines(text).at(-2) ?? '') : text;
    return (JSON.parse(json) as { usage: Usage }).usage;
  }

  /** Returns the cost of tokens at 1 USD of input and 2 USD of output per million. */
  const usd = (prompt: number, completion: number) => String((prompt + 2 * completion) / 1_000_000);

  describe.each([false, true])('another name of the output bound, stream %s', (stream) => {
    it.each([
      [{ max_tokens: 1, n_predict: 4_000 }, usd(10, 4_000)],
      [{ max_tokens: 1, max_output_tokens: 300, max_length: 20 }, usd(10, 300)],
      [{ max_new_tokens: 50 }, usd(10, 50)],
      [{ max_tokens: 50, max_length: null }, usd(10, 50)],
      [{ max_tokens: 1, n_predict: -1 }, usd(10, 4_096)],
      [{ max_tokens: 5_000, n_predict: -1 }, usd(10, 5_000)],
      [{ max_length: 'long' }, usd(10, 4_096)],
    ])('is billed as the bound that it is: %j', async (members, cost) => {
      const usage = await usageOf('acme/billion', { ...members, stream });
      expect(Number(usage.cost_usd)).toBe(Number(cost));
    });

    it.each([
      ['n_predict', { max_tokens: 1, n_predict: 50_000_001 }, '100.0001'],
      ['an open bound', { max_tokens: 1, n_predict: -1, n: 128 }, '1.0486'],
    ])('is reserved before a provider is called: %s', async (_name, members, usd) => {
      await gateway.settled();
      const calls = gateway.simulator.calls.length;
      const response = await gateway.post(hello('acme/fine', { ...members, stream }), {
        authorization: `Bearer ${poor}`,
      });
      const { message } = await expectError(response, 402, 'PAYMENT_REQUIRED');
      expect(message).toContain(`may cost ${usd}`);
      expect(gateway.simulator.calls).toHaveLength(calls);
    });
  });

  describe.each([false, true])('a usage report beyond what the call can have used, stream %s', (stream) => {
    it.each([
      ['completion tokens, at what was asked for', 'acme/billion', { max_tokens: 100 }, usd(10, 100)],
      ['completion tokens, at what was asked for times n', 'acme/billion', { max_tokens: 100, n: 3 }, usd(10, 300)],
      ['completion tokens, at the limit of the entry', 'acme/billion', {}, usd(10, 4_096)],
      ['completion tokens with additive reasoning', 'additive/billion', { max_tokens: 100 }, usd(10, 4_196)],
      ['prompt tokens, at the context length', 'acme/prompt', { max_tokens: 100 }, usd(128_000, 5)],
    ])('is billed at the bound, and flagged: %s', async (_name, model, more, cost) => {
      const usage = await usageOf(model, { ...more, stream });
      expect(Number(usage.cost_usd)).toBe(Number(cost));
      expect(usage.estimated).toBe(true);
    });

    it('is billed as reported if it is at the bound', async () => {
      const usage = await usageOf('acme/fine', { max_tokens: 100, stream });
      expect(Number(usage.cost_usd)).toBe(Number(usd(10, 100)));
      expect(usage).not.toHaveProperty('estimated');
    });
  });

  describe.each([false, true])('a call whose provider reports no usage, stream %s', (stream) => {
    const saying = (...content: object[]) => ({ messages: [{ role: 'user', content }], max_tokens: 10, stream });
    const image = { type: 'image_url', image_url: { url: png(100, 100, 1_000_000) } };

    it('is billed for an image by the tokens that were reserved for it, not by its bytes', async () => {
      const usage = await usageOf('acme/unreported', saying(image));
      expect(usage).toMatchObject({ estimated: true });
      // The image is one tile; the text around it is less than 400 bytes.
      expect(usage.prompt_tokens).toBeGreaterThanOrEqual(8_500);
      expect(usage.prompt_tokens).toBeLessThan(8_600);
    });

    it('is billed for audio what was reserved for it: the context length', async () => {
      const usage = await usageOf('acme/unreported', saying({ type: 'input_audio', input_audio: { data: 'AAAA' } }));
      expect(usage).toMatchObject({ estimated: true, prompt_tokens: 128_000 });
    });

    it('takes no more of the tokens per minute of its provider', async () => {
      await usageOf('acme/limited', saying(image));
      await gateway.settled();
      expect((await gateway.post(hello('acme/limited', { max_tokens: 10 }))).status).toBe(200);
    });
  });

  describe("the operator's log", () => {
    const namedCalls = () =>
      gateway.logLines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ event }) => event === 'charge_over_hold');

    it('names a charge for more input than the body can hold, and no other', async () => {
      await gateway.settled();
      const before = namedCalls().length;
      await usageOf('acme/fine', { max_tokens: 100 });
      await usageOf('acme/unreported', { max_tokens: 100 });
      await gateway.settled();
      expect(namedCalls()).toHaveLength(before);
      const response = await gateway.post(hello('acme/prompt', { max_tokens: 100 }));
      await gateway.settled();
      expect(namedCalls().slice(before)).toEqual([
        expect.objectContaining({
          correlation_id: response.headers.get('x-request-id'),
          workspace_id: 'team',
          provider: 'acme',
          model: 'acme/prompt',
          input_tokens: 128_000,
          cost_usd: '0.12801',
        }),
      ]);
    });
  });
});
