// Output bounds and prices of models of other formats, which no table of features covers: the bound in the request is
// the reserved one, no call costs more than its reservation, and the same usage costs the same, whichever client asked
// and in whatever form the provider reports it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { PicoUsd } from '../../shared/foundation/money/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { sendRequest } from '../support/http-client.ts';
import { contentOf, readStream } from '../support/read-stream.ts';
import { recordHolds } from '../support/recorded-holds.ts';

const formats = ['chat-completions', 'messages', 'responses', 'converse', 'generate-content'] as const;
type Format = (typeof formats)[number];
const clients = ['chat-completions', 'messages', 'responses'] as const;
type Client = (typeof clients)[number];

/** Model families with a minimum output bound, or with a budget for reasoning. */
const families: Readonly<Record<Format, string>> = {
  'chat-completions': 'gpt-4.1',
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.4',
  converse: 'anthropic.claude-sonnet-4-5-v1',
  'generate-content': 'gemini-2.5-flash',
};
const usage = 'usage:1000:500:300:120:200:80';
/** A usage that is above what the model can have written. */
const tooMuch = 'usage:2:1000000000';
const unreadableUsages = [
  'no-usage',
  ...['strings', 'nulls', 'text', 'negative', 'fractions'].map((kind) => `wrong-usage:${kind}`),
];
const behaviours = ['echo', tooMuch, usage, ...unreadableUsages, 'redacted-reasoning'];

/**
 * Google and Responses report no cache writes, and chat completions report none that last an hour: unreported writes
 * count as input.
 */
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

/** The first model has a budget for reasoning in tokens, the second an effort. */
const bounded = {
  messages: ['claude-sonnet-4-5', 'claude-opus-4-7'],
  converse: ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'amazon.nova-2-lite-v1:0'],
  'generate-content': ['gemini-2.5-flash', 'gemini-3-pro-preview'],
} as const;
type Bounded = keyof typeof bounded;

/** Each format fails in another way, before the first output. */
const failing = {
  'chat-completions': 'error-after-role',
  messages: 'cut:0',
  responses: 'error-after-role',
  converse: 'garbage:0',
  'generate-content': 'error-500',
};
/** Each format comes once directly after each other format, and once last. */
const orders = [1, 2, 3, 4].flatMap((step) =>
  [0, step].map((start) => formats.map((_format, at) => formats[(start + step * at) % formats.length] as Format)),
);

let gateway: Harness;
const { holds, replace } = recordHolds();
beforeAll(async () => {
  gateway = await startHarness({
    models: Object.fromEntries([
      ...formats.flatMap((format) =>
        behaviours.map((behaviour) => [
          `${format}/${behaviour}`,
          [{ provider: format, upstream: `${families[format]}/${behaviour}`, more: prices }],
        ]),
      ),
      ...Object.entries(bounded).flatMap(([provider, upstreams]) =>
        upstreams.map((upstream) => [
          `bounded/${upstream}`,
          [{ provider, upstream, more: { input_price_per_million: '0', max_output_tokens: 64_000 } }],
        ]),
      ),
      ...formats.map((last) => [
        `only/${last}`,
        formats.map((provider) => ({ provider, upstream: provider === last ? 'echo' : failing[provider] })),
      ]),
      ['both/model', [{ provider: 'both', upstream: 'echo' }]],
    ]),
    providers: {
      ...Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
      both: { apis: ['messages', 'chat-completions'] },
    },
    replace,
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

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
  /** The provider's limit of output tokens. */
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
  const response = await sendRequest(gateway.url + paths[client], {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model, stream, ...bodies[client](bound) }),
  });
  const text = await response.text();
  expect([response.status, text]).toMatchObject([200, {}]);
  await gateway.settled();
  const sentSizes = gateway.simulator.calls.map(({ bodyText }) =>
    Number(
      /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxTokens|maxOutputTokens)":(\d+)/.exec(bodyText)?.[1],
    ),
  );
  expect([holds.length, sentSizes.length]).toEqual([1, 1]);
  return { held: holds[0] ?? 0n, paid: (await gateway.credit()).spent - spent, bound: sentSizes[0] ?? Number.NaN };
}

it.each(clients.flatMap((client) => formats.map((format) => [client, format] as const)))(
  'a client of %s at a model of %s reserves what it may cost, even if a bound is raised or thinking counts',
  async (client, format) => {
    // A relayed bound is never raised, so the provider must accept it as it is.
    const least = client === format ? 20 : 1;
    for (const [behaviour, maxTokens, stream] of [
      ['echo', least, true],
      [tooMuch, least, false],
      [tooMuch, 2_000, true],
      ['no-usage', 2_000, false],
    ] as const) {
      const { held, paid, bound } = await pay(client, `${format}/${behaviour}`, { bound: maxTokens, stream });
      expect([behaviour, maxTokens, paid > 0n, paid <= held]).toEqual([behaviour, maxTokens, true, true]);
      expect([bound >= maxTokens, BigInt(bound) * outputTokenPrice <= held]).toEqual([true, true]);
    }
  },
);

it.each(formats)(
  'the same usage of a model of %s costs the same for every client, whole and streamed',
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

// biome-ignore lint/suspicious/noExplicitAny: a provider's body is looked into field by field.
type Any = any;
const sentBounds: Readonly<Record<Bounded, (body: Any) => readonly [bound: number, budget: number | undefined]>> = {
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

/** The request, its reserved output, and its reasoning budget if the model has a budget in tokens. */
const bounds: readonly (readonly [more: Record<string, unknown>, held: number, budget?: number])[] = [
  [{}, 64_000],
  [{ max_tokens: 77 }, 77],
  [{ max_completion_tokens: 78 }, 78],
  [{ max_tokens: 10, max_completion_tokens: 90, n_predict: 50 }, 90],
  [{ max_output_tokens: 55 }, 55],
  [{ n_predict: -1 }, 64_000],
  [{ max_tokens: 20_000 }, 20_000],
  [{ reasoning_effort: 'medium' }, 64_000, 32_000],
  [{ max_tokens: 8_000, reasoning: { effort: 'high' } }, 8_000, 6_400],
  [{ max_tokens: 3_000, reasoning: { max_tokens: 2_000 } }, 3_000, 2_000],
  [{ max_tokens: 3_000, reasoning: { max_tokens: 50_000 } }, 3_000, 2_999],
  [{ max_tokens: 60_000, reasoning: { max_tokens: 50_000 } }, 60_000, 50_000],
  [{ max_tokens: 1_000, reasoning: { effort: 'high' } }, 1_000],
  [{ max_tokens: 2_000, reasoning: { effort: 'high' }, stream: true }, 2_000, 1_600],
];

it.each(bounds)(
  'no more output is asked for than is reserved, thinking included: %j',
  async (more, reservedTokens, budget) => {
    for (const [api, upstreams] of Object.entries(bounded))
      for (const [place, upstream] of upstreams.entries()) {
        gateway.simulator.clear();
        holds.length = 0;
        const response = await gateway.post(hello(`bounded/${upstream}`, more));
        expect([upstream, response.status, await response.text()]).toMatchObject([upstream, 200, {}]);
        // Input is free here, and a token of output costs 2 millionths of a dollar.
        expect(holds).toEqual([BigInt(reservedTokens) * 2_000_000n]);
        const sentLimits = gateway.simulator.calls.map(({ body }) => sentBounds[api as Bounded](body));
        // Gemini refuses a larger reasoning budget, whatever the bound of the output.
        const known = api === 'generate-content' && budget !== undefined ? Math.min(budget, 24_576) : budget;
        expect([upstream, ...sentLimits]).toEqual([upstream, [reservedTokens, place === 0 ? known : undefined]]);
      }
  },
);

// biome-ignore lint/suspicious/noExplicitAny: an answer is looked into field by field.
const answerOf = async (response: Response): Promise<any> => {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text);
};
const post = (format: Format, behaviour: string, more: Json = {}) =>
  gateway.post(hello(`${format}/${behaviour}`, more));
const calledFormats = () => gateway.simulator.calls.map(({ provider, format }) => `${provider} ${format}`);

describe.each(['messages', 'responses', 'converse', 'generate-content'] as const)('a provider of %s', (api) => {
  it.each(unreadableUsages)('is estimated if it reports nothing, or nothing that counts: %s', async (upstream) => {
    const { lines } = await readStream(
      await post(api, upstream, { stream: true, stream_options: { include_usage: true } }),
    );
    expect(JSON.parse(lines.at(-1) ?? '').usage.estimated).toBe(true);
    const { usage } = await answerOf(await post(api, upstream));
    expect(usage.estimated).toBe(true);
    expect(usage.cost).toBeGreaterThan(0);
  });

  it('gives no reasoning if it is excluded, and no chunk that would be empty', async () => {
    const request = { reasoning: { effort: 'high', exclude: true }, max_tokens: 4_000 };
    const { choices, usage } = await answerOf(await post(api, 'redacted-reasoning', request));
    expect(Object.keys(choices[0].message).sort()).toEqual(['content', 'refusal', 'role']);
    expect(usage.completion_tokens).toBeGreaterThan(0);
    const { lines } = await readStream(await post(api, 'redacted-reasoning', { ...request, stream: true }));
    // The stream has no usage chunk either, because the client did not ask for one.
    const deltas = lines.map((line) => JSON.parse(line).choices[0].delta);
    expect(deltas.flatMap((delta) => Object.keys(delta)).filter((name) => /reasoning/.test(name))).toEqual([]);
    expect(deltas.slice(1, -1).filter((delta) => Object.keys(delta).length === 0)).toEqual([]);
    expect(contentOf(lines)).toBe(choices[0].message.content);
  });
});

it('a field without words in the format is reported in a few words, however often a request has it', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
  const content = Array.from({ length: 20_000 }, (_one, index) => (index === 0 ? image : { type: 'hologram' }));
  const { message } = await expectError(
    await post('converse', 'echo', { messages: [{ role: 'user', content }] }),
    400,
    'feature_unsupported',
  );
  expect(message).toContain('image_url (messages[0].content[0]), content_part (messages[0].content[1]).');
});

it('providers of all formats replace each other, whichever failed before, as long as there is no output', async () => {
  for (const order of orders)
    for (const stream of [false, true]) {
      gateway.simulator.clear();
      const only = `only/${order.at(-1)}`;
      const response = await gateway.post(hello(only, { stream, provider: { order }, usage: { include: true } }));
      const text = await response.text();
      expect([response.status, text.includes('"error"'), /"attempts":(\d)/.exec(text)?.[1]]).toEqual([200, false, '5']);
      expect(text).toMatch(stream ? /data: \[DONE\]\n\n$/ : /^\{/);
      expect(calledFormats()).toEqual(order.map((format) => `${format} ${format}`));
    }
});

it('a provider that speaks chat completions too is not translated', async () => {
  await answerOf(await gateway.post(hello('both/model')));
  expect(calledFormats()).toEqual(['both chat-completions']);
});
