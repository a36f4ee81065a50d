import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { unknownMembersTexts } from '../../infra/local/simulator/index.ts';
import { uuid } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;
type Usage = Json & { cost: number; cost_usd: string; cost_details: Record<string, number> };

const upstreams = [
  'unknown-members',
  'usage:1000:500',
  'usage:1000:500:400',
  'usage:1000:500:0:300',
  'usage:3:1',
  'no-usage',
  'zero-usage',
  'wrong-usage:negative',
  'wrong-usage:strings',
  'wrong-usage:cached',
  'wrong-usage:fractions',
  'wrong-usage:astronomic',
  'wrong-usage:nulls',
  'wrong-usage:text',
  'reasoning',
  'refusal',
  'tools',
  'content-filter',
  'two-choices',
  'done-without-finish',
];

describe('a JSON answer', () => {
  let gateway: Harness;

  beforeAll(async () => {
    const more = {
      input_price_per_million: '1.10',
      output_price_per_million: '2.20',
      cached_input_price_per_million: '0.10',
    };
    const routes = upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream, more }]]);
    gateway = await startHarness({
      models: {
        ...Object.fromEntries(routes),
        'acme/additive': [{ provider: 'additive', upstream: 'usage:1000:500:0:300', more }],
        'acme/written': [
          {
            provider: 'acme',
            upstream: 'usage:1000:500:200:0:300',
            more: { ...more, cache_write_input_price_per_million: '3.10' },
          },
        ],
        'acme/written-unpriced': [{ provider: 'acme', upstream: 'usage:1000:500:200:0:300', more }],
        'acme/free': [
          {
            provider: 'acme',
            upstream: 'usage:7:7',
            more: { input_price_per_million: '0', output_price_per_million: '0' },
          },
        ],
      },
      providers: { additive: { reasoning_tokens: 'additive' } },
    });
  });
  afterAll(() => gateway.stop());

  async function answerOf(
    model: string,
    more = {},
  ): Promise<{ body: Json; usage: Usage; headers: Headers; text: string }> {
    const response = await gateway.post(hello(`acme/${model}`, more));
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 200 });
    const body = JSON.parse(text) as Json;
    return { body, usage: body.usage as Usage, headers: response.headers, text };
  }

  it('is the provider’s own, unknown fields and all, with our fields in usage', async () => {
    const { body, headers, text } = await answerOf('unknown-members');
    const answerBody = JSON.parse(unknownMembersTexts('chat-completions').json) as Json;
    expect(answerBody).toHaveProperty('x_vendor');
    expect(body).toEqual({
      ...answerBody,
      usage: {
        ...(answerBody.usage as Json),
        cost: 0.0000187,
        cost_usd: '0.0000187',
        cost_details: { upstream_inference_prompt_cost: 0.0000077, upstream_inference_completions_cost: 0.000011 },
        is_byok: false,
        provider: 'acme',
        model: 'acme/unknown-members',
        attempts: 1,
        cache_hit: false,
      },
    });
    expect(text).toContain('"big":12345678901234567890');
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('x-gw-model')).toBe('acme/unknown-members');
    expect(headers.get('x-gw-provider')).toBe('acme');
    expect(headers.get('x-request-id')).toMatch(uuid);
    expect(headers.get('server-timing')).toMatch(/^gw;dur=\d+(\.\d+)?$/);
    expect(headers.get('retry-after')).toBeNull();
    expect(headers.get('x-should-retry')).toBeNull();
  });

  it.each([
    ['usage:1000:500', 0.0022, '0.0022'],
    ['usage:3:1', 0.0000055, '0.0000055'],
    // The cost is 600 uncached tokens at 1.10, 400 cached at 0.10, 500 at 2.20.
    ['usage:1000:500:400', 0.0018, '0.0018'],
    // Reasoning is part of the completion, unless the provider reports that it comes on top: 800 tokens at 2.20.
    ['usage:1000:500:0:300', 0.0022, '0.0022'],
    ['additive', 0.00286, '0.00286'],
    // The cost is 500 tokens at 1.10, 200 cached at 0.10, 300 written at 3.10, 500 at 2.20; in the next row all but the
    // cached tokens have the input price.
    ['written', 0.0026, '0.0026'],
    ['written-unpriced', 0.002, '0.002'],
    ['free', 0, '0'],
    ['zero-usage', 0, '0'],
  ])('costs exactly what its tokens cost: %s', async (model, cost, costUsd) => {
    const { usage } = await answerOf(model);
    expect(usage).toMatchObject({ cost, cost_usd: costUsd });
    expect(usage).not.toHaveProperty('estimated');
    const { upstream_inference_prompt_cost: prompt = 0, upstream_inference_completions_cost: completion = 0 } =
      usage.cost_details;
    expect(prompt + completion).toBeCloseTo(cost, 12);
  });

  it.each(upstreams)('has numbers where SDKs want numbers: %s', async (model) => {
    const { usage } = await answerOf(model);
    expect(typeof usage.cost).toBe('number');
    expect(usage.cost).toBeGreaterThanOrEqual(0);
    expect(usage.cost).toBeLessThan(1);
    expect(Number(usage.cost_usd)).toBe(usage.cost);
    expect(Object.keys(usage.cost_details).toSorted()).toEqual([
      'upstream_inference_completions_cost',
      'upstream_inference_prompt_cost',
    ]);
    expect(Object.values(usage.cost_details).every((value) => typeof value === 'number' && value >= 0)).toBe(true);
    expect([usage.is_byok, usage.cache_hit, usage.attempts]).toEqual([false, false, 1]);
  });

  it.each([
    'no-usage',
    'wrong-usage:negative',
    'wrong-usage:strings',
    'wrong-usage:fractions',
    'wrong-usage:astronomic',
    'wrong-usage:nulls',
    'wrong-usage:text',
  ])('is estimated from its bytes, and says so, if the provider gives no usable count: %s', async (model) => {
    const { usage } = await answerOf(model);
    expect(usage.estimated).toBe(true);
    expect(usage.prompt_tokens).toBeGreaterThan(0);
    expect(usage.completion_tokens).toBeGreaterThan(10);
    expect(usage.total_tokens).toBe(Number(usage.prompt_tokens) + Number(usage.completion_tokens));
    expect(usage.cost).toBeGreaterThan(0);
  });

  it('never credits anyone for more cached tokens than the prompt has', async () => {
    const { usage } = await answerOf('wrong-usage:cached');
    // The cost is ten cached tokens at 0.10 and five at 2.20.
    expect(usage.cost_usd).toBe('0.000012');
  });

  it('keeps refusals, tool calls, several choices and other finish reasons', async () => {
    const tool = {
      type: 'function',
      function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
    };
    expect((await answerOf('refusal')).body.choices).toMatchObject([
      { message: { content: null, refusal: expect.any(String) } },
    ]);
    expect((await answerOf('content-filter')).body.choices).toMatchObject([{ finish_reason: 'content_filter' }]);
    expect((await answerOf('two-choices')).body.choices).toHaveLength(2);
    expect((await answerOf('tools', { tools: [tool] })).body.choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: { tool_calls: expect.arrayContaining([expect.objectContaining({ type: 'function' })]) },
      },
    ]);
  });
});
