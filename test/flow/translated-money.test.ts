// What a chat completion at providers of other formats may use, and what is paid: the output bound that goes out is the one
// that was held, answers that fail their schema are asked for again and paid each.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { schemaInstance } from '../../infra/local/simulator/schema-instance.ts';
import type { PicoUsd } from '../../shared/foundation/money/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { answerOf, ask, jsonSchema, step, workflow } from '../support/function-calls.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';
import { contentOf, readStream } from '../support/read-stream.ts';
import { recordHolds } from '../support/recorded-holds.ts';

describe('a chat completion', () => {
  const apis = ['messages', 'converse', 'generate-content'] as const;
  type Api = (typeof apis)[number];

  /** The first is given tokens to think, the second is told how hard. Of Claude the first takes a schema, others are made to call a tool with it. */
  const upstreams: Readonly<Record<Api, readonly [string, string]>> = {
    messages: ['claude-sonnet-4-5', 'claude-opus-4-7'],
    converse: ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'amazon.nova-2-lite-v1:0'],
    'generate-content': ['gemini-2.5-flash', 'gemini-3-pro-preview'],
  };
  const behaviours = ['echo', 'invalid-json', 'invalid-json-once'];
  /** How the schema goes out. */
  const ways = ['as-schema', 'as-tool'] as const;
  const upstreamOf = (api: Api, way: (typeof ways)[number], behaviour: string) =>
    way === 'as-tool' ? behaviour : `${upstreams[api][0].split(':')[0]}/${behaviour}`;

  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, degrees: { type: 'number' } },
    required: ['city', 'degrees'],
    additionalProperties: false,
  };
  const response_format = jsonSchema(schema);
  const valid = schemaInstance(schema);

  const functions = [
    workflow(
      'chain',
      [
        step('a', '{{input.topic}}', { model: 'messages/as-schema/echo', response_format }),
        step('b', 'Is {{steps.a.output.city}} far?', { model: 'converse/as-tool/echo' }),
        step('c', '{{steps.b.output}}', { model: 'generate-content/as-schema/echo' }),
      ],
      { step: 'c' },
    ),
  ];

  let gateway: Harness;
  const { holds, replace } = recordHolds();

  beforeAll(async () => {
    const bounded = apis.flatMap((api) =>
      upstreams[api].map((upstream) => [
        `bounded/${upstream}`,
        [{ provider: api, upstream, more: { input_price_per_million: '0' } }],
      ]),
    );
    const structured = apis.flatMap((api) =>
      ways.flatMap((way) =>
        behaviours.map((behaviour) => [
          `${api}/${way}/${behaviour}`,
          [{ provider: api, upstream: upstreamOf(api, way, behaviour) }],
        ]),
      ),
    );
    gateway = await startHarness({
      models: Object.fromEntries([...bounded, ...structured]),
      providers: Object.fromEntries(apis.map((api) => [api, { apis: [api] }])),
      workspace: { functions },
      replace,
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    gateway.simulator.clear();
    holds.length = 0;
  });

  const called = () => gateway.simulator.calls.map(({ format }) => format);
  /** What is paid for the work, to the last pico-USD. */
  async function paidFor<T>(work: () => Promise<T>): Promise<{ paid: PicoUsd; result: T }> {
    await gateway.settled();
    const { spent } = await gateway.credit();
    const result = await work();
    await gateway.settled();
    return { paid: (await expectBalancedBooks(gateway)) - spent, result };
  }
  const owedIn = ({ cost_usd: usd }: Record<string, unknown>): PicoUsd =>
    BigInt(Math.round(Number(usd) * 1_000_000)) * 1_000_000n;

  // biome-ignore lint/suspicious/noExplicitAny: a provider's body is looked into member by member.
  type Any = any;
  const sentBounds: Readonly<Record<Api, (body: Any) => readonly [bound: number, budget: number | undefined]>> = {
    messages: ({ max_tokens, thinking }) => [max_tokens, thinking?.budget_tokens],
    converse: ({ inferenceConfig, additionalModelRequestFields: more }) => [
      inferenceConfig.maxTokens,
      more?.thinking?.budget_tokens,
    ],
    'generate-content': ({ generationConfig: { maxOutputTokens, thinkingConfig } }) => [
      maxOutputTokens,
      thinkingConfig?.thinkingBudget || undefined,
    ],
  };

  /** What is asked for, the output that is held for it, and the thinking in it where the model is given tokens for that. */
  const bounds: readonly (readonly [more: Record<string, unknown>, held: number, budget?: number])[] = [
    [{}, 4_096],
    [{ max_tokens: 77 }, 77],
    [{ max_completion_tokens: 78 }, 78],
    [{ max_tokens: 10, max_completion_tokens: 90, n_predict: 50 }, 90],
    [{ max_output_tokens: 55 }, 55],
    [{ n_predict: -1 }, 4_096],
    [{ max_tokens: 20_000 }, 20_000],
    [{ reasoning_effort: 'medium' }, 4_096, 2_048],
    [{ max_tokens: 8_000, reasoning: { effort: 'high' } }, 8_000, 6_400],
    [{ max_tokens: 3_000, reasoning: { max_tokens: 2_000 } }, 3_000, 2_000],
    [{ max_tokens: 3_000, reasoning: { max_tokens: 50_000 } }, 3_000, 2_999],
    [{ max_tokens: 1_000, reasoning: { effort: 'high' } }, 1_000],
    [{ max_tokens: 2_000, reasoning: { effort: 'high' }, stream: true }, 2_000, 1_600],
  ];

  describe.each(apis)('a provider of %s', (api) => {
    // Gemini takes every schema as one.
    const itsWays = api === 'generate-content' ? (['as-schema'] as const) : ways;

    it.each(bounds)('is asked for no more output than is held, thinking included: %j', async (more, held, budget) => {
      for (const [place, upstream] of upstreams[api].entries()) {
        gateway.simulator.clear();
        holds.length = 0;
        const response = await gateway.post(hello(`bounded/${upstream}`, more));
        expect([upstream, response.status, await response.text()]).toMatchObject([upstream, 200, {}]);
        // Input is free here, and a token of output costs 2 millionths of a dollar.
        expect(holds).toEqual([BigInt(held) * 2_000_000n]);
        const sent = gateway.simulator.calls.map(({ body }) => sentBounds[api](body));
        expect(sent).toEqual([[held, place === 0 ? budget : undefined]]);
      }
    });

    it.each(itsWays)('answers by the schema, one call, streamed too: %s', async (way) => {
      const { result } = await paidFor(async () =>
        answerOf(await gateway.post(hello(`${api}/${way}/echo`, { response_format }))),
      );
      expect([JSON.parse(result.content), result.usage.attempts]).toEqual([valid, 1]);
      expect(gateway.simulator.calls[0]?.bodyText).toContain('degrees');
      const openAi = gateway.url.replace(/\/v1$/, '/openai/v1');
      const stream = (behaviour: string) =>
        fetch(`${openAi}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}` },
          body: JSON.stringify(hello(`${api}/${way}/${behaviour}`, { response_format, stream: true })),
        });
      expect(JSON.parse(contentOf((await readStream(await stream('echo'))).lines))).toEqual(valid);
      gateway.simulator.clear();
      const { paid, result: broken } = await paidFor(async () =>
        dataLines(await (await stream('invalid-json')).text()),
      );
      expect(broken.at(-1)).toContain('schema_validation_failed');
      expect([called(), paid > 0n]).toEqual([[api], true]);
    });

    it.each(itsWays)('is asked again where its answer fails the schema, and both are paid: %s', async (way) => {
      const asked = hello(`${api}/${way}/invalid-json-once`, { response_format, max_tokens: 200 });
      const { paid, result } = await paidFor(async () => answerOf(await gateway.post(asked)));
      expect([JSON.parse(result.content), result.usage.attempts, called()]).toEqual([valid, 2, [api, api]]);
      const [first, second] = gateway.simulator.calls.map(({ bodyText }) => bodyText);
      expect(second).toBe(first);
      expect(paid).toBe(owedIn(result.usage));
      // Three answers are held for.
      const [held = 0n] = holds;
      expect([holds.length, held % 3n, held > 3n * 200n * 2_000_000n, held > paid]).toEqual([1, 0n, true, true]);
    });
  });

  it('a workflow goes through providers of all formats, and is paid to the last one', async () => {
    const { paid, result } = await paidFor(async () => answerOf(await gateway.post(ask('chain', { topic: 'Rain' }))));
    expect(result.content).toContain('I am the model gemini-2.5-flash/echo');
    expect([called(), result.usage.attempts, paid]).toEqual([apis, 3, owedIn(result.usage)]);
    const [, second] = gateway.simulator.calls.map(({ bodyText }) => bodyText);
    expect(second).toContain(`Is ${(valid as { city: string }).city} far?`);
  });
});

// A call of any client at a model of any format never costs more than was held for it, and the same usage costs the same, whoever
// asked and in whatever form the provider reports it.
describe('whoever asks', () => {
  const formats = ['chat-completions', 'messages', 'responses', 'converse', 'generate-content'] as const;
  type Format = (typeof formats)[number];
  const clients = ['chat-completions', 'messages', 'responses'] as const;
  type Client = (typeof clients)[number];

  /** Those with a least bound, and those that think with a budget. */
  const families: Readonly<Record<Format, string>> = {
    'chat-completions': 'gpt-4.1',
    messages: 'claude-sonnet-4-5',
    responses: 'gpt-5.4',
    converse: 'anthropic.claude-sonnet-4-5-v1',
    'generate-content': 'gemini-2.5-flash',
  };
  const usage = 'usage:1000:500:300:120:200:80';
  /** More than it can have written. */
  const tooMuch = 'usage:2:1000000000';
  const behaviours = ['echo', tooMuch, 'no-usage', usage] as const;

  /** Google and Responses tell of no cache that is written, chat completions of none that is kept for an hour: what is not told is input. */
  const costs: Readonly<Record<Format, bigint>> = {
    'chat-completions': 1_800n,
    messages: 1_860n,
    responses: 1_730n,
    converse: 1_860n,
    'generate-content': 1_730n,
  };
  const prices = {
    cached_input_price_per_million: '0.10',
    cache_write_input_price_per_million: '1.25',
    cache_write_1h_input_price_per_million: '2.00',
  };
  const microUsd = 1_000_000n;
  const outputTokenPrice = 2n * microUsd;

  let gateway: Harness;
  const { holds, replace } = recordHolds();
  beforeAll(async () => {
    gateway = await startHarness({
      models: Object.fromEntries(
        formats.flatMap((format) =>
          behaviours.map((behaviour) => [
            `${format}/${behaviour}`,
            [{ provider: format, upstream: `${families[format]}/${behaviour}`, more: prices }],
          ]),
        ),
      ),
      providers: Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
      replace,
    });
  });
  afterAll(() => gateway.stop());

  type Json = Record<string, unknown>;
  const paths: Readonly<Record<Client, string>> = {
    'chat-completions': '/chat/completions',
    messages: '/messages',
    responses: '/responses',
  };
  const talk = [{ role: 'user', content: 'Hello' }];
  const bodies: Readonly<Record<Client, (bound: number) => Json>> = {
    'chat-completions': (bound) => ({ messages: talk, max_tokens: bound, reasoning: { effort: 'high' } }),
    messages: (bound) => ({
      messages: talk,
      max_tokens: bound,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    }),
    responses: (bound) => ({ input: talk, max_output_tokens: bound, reasoning: { effort: 'high' } }),
  };

  interface Paid {
    readonly held: PicoUsd;
    readonly paid: PicoUsd;
    /** What the provider was told to write at most. */
    readonly bound: number;
  }

  async function pay(
    client: Client,
    model: string,
    { bound, stream }: { bound: number; stream: boolean },
  ): Promise<Paid> {
    await gateway.settled();
    const { spent } = await gateway.credit();
    holds.length = 0;
    gateway.simulator.clear();
    const response = await fetch(gateway.url + paths[client], {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model, stream, ...bodies[client](bound) }),
    });
    const text = await response.text();
    expect([response.status, text]).toMatchObject([200, {}]);
    await gateway.settled();
    const sent = gateway.simulator.calls.map(({ bodyText }) =>
      Number(
        /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxTokens|maxOutputTokens)":(\d+)/.exec(bodyText)?.[1],
      ),
    );
    expect([holds.length, sent.length]).toEqual([1, 1]);
    return { held: holds[0] ?? 0n, paid: (await gateway.credit()).spent - spent, bound: sent[0] ?? Number.NaN };
  }

  describe.each(clients)('a client of %s', (client) => {
    it.each(formats)(
      'at a model of %s holds what it may cost, also where a bound is raised or thinking counts',
      async (format) => {
        // What is relayed goes out as it is.
        const least = client === format ? 20 : 1;
        for (const [behaviour, asked, stream] of [
          ['echo', least, true],
          [tooMuch, least, false],
          [tooMuch, 2_000, true],
          ['no-usage', 2_000, false],
        ] as const) {
          const { held, paid, bound } = await pay(client, `${format}/${behaviour}`, { bound: asked, stream });
          expect([behaviour, asked, paid > 0n, paid <= held]).toEqual([behaviour, asked, true, true]);
          expect([bound >= asked, BigInt(bound) * outputTokenPrice <= held]).toEqual([true, true]);
        }
      },
    );
  });

  it.each(formats)(
    'the same usage of a model of %s costs the same, whoever asks, whole and streamed',
    async (format) => {
      const paid = new Set<PicoUsd>();
      for (const client of clients) {
        for (const stream of [false, true])
          paid.add((await pay(client, `${format}/${usage}`, { bound: 600, stream })).paid);
      }
      expect([...paid]).toEqual([costs[format] * microUsd]);
      await expectBalancedBooks(gateway);
    },
  );
});
