// A provider's own bill beside the gateway's charge: recorded usages with their cost, and the units of reranking as
// each host documents them. xAI: tests of vercel/ai (commit ed857f50, 2026-08-22, Apache-2.0), 1e-10 USD a tick, prices
// of grok-3-mini. OpenRouter: the answers of test/kinds that report a cost.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { readRows } from '../support/kind-answers.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

const xai = (prompt: number, cached: number, completion: number, reasoning: number, ticks: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion + reasoning,
  prompt_tokens_details: { text_tokens: prompt, audio_tokens: 0, image_tokens: 0, cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  num_sources_used: 0,
  cost_in_usd_ticks: ticks,
});
/** Usages by the name of their recorded file. */
const recorded = {
  'xai-text.json': xai(12, 2, 1, 228, 1_176_500),
  'xai-tool-call.json': xai(291, 244, 26, 189, 1_399_000),
  'xai-text.chunks.txt': xai(12, 11, 1, 290, 1_466_250),
  'xai-tool-call.chunks.txt': xai(291, 290, 26, 196, 1_330_500),
  'openai-compatible/xai-text.chunks.txt': xai(12, 11, 2, 340, 1_721_250),
  'openai-compatible/xai-tool-call.json': xai(307, 244, 26, 255, 1_777_000),
};
const ticksOfUsd = 10_000_000_000;

interface OwnCost {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost: number;
  readonly cost_details: {
    readonly upstream_inference_prompt_cost: number;
    readonly upstream_inference_completions_cost: number;
  };
}
/** Usages of OpenRouter's recorded answers that report the cost of prompt and completion. */
const ownCosts = readRows().flatMap(({ kind, api, answers }) => {
  if (kind !== 'openrouter' || api !== 'chat-completions') return [];
  return answers.whole.flatMap(({ body }) => {
    const usage = (body as { usage?: Partial<OwnCost> }).usage;
    return usage?.cost_details === undefined ? [] : [usage as OwnCost];
  });
});
const [ownCost] = ownCosts as [OwnCost];
/** Returns the price of a million tokens in USD, as the provider billed them. */
const ownPrice = (cost: number, tokens: number): string => ((cost / tokens) * 1e6).toFixed(6);

let answer: { readonly type: string; readonly body: string };
let provider: ScriptedProvider;
let gateway: Harness;
beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    outgoing.writeHead(200, { 'content-type': answer.type });
    outgoing.end(answer.body);
  });
  const more = {
    ...{ input_price_per_million: '0.30', output_price_per_million: '0.50', cached_input_price_per_million: '0.075' },
    max_output_tokens: 4_096,
  };
  const ranks = { ...more, output_price_per_million: '0', apis: ['rerank'] };
  gateway = await startHarness({
    models: {
      grok: [{ provider: 'xai', upstream: 'grok-3-mini', more }],
      'grok-additive': [{ provider: 'additive', upstream: 'grok-3-mini', more }],
      searcher: [
        {
          provider: 'ranks',
          upstream: 'rerank',
          more: { ...ranks, input_price_per_million: '0', price_per_request: '0.002' },
        },
      ],
      ranker: [{ provider: 'ranks', upstream: 'rerank', more: { ...ranks, price_per_request: '0.002' } }],
      routed: [
        {
          provider: 'openrouter',
          upstream: 'deepseek/deepseek-v4-pro',
          more: {
            ...more,
            input_price_per_million: ownPrice(
              ownCost.cost_details.upstream_inference_prompt_cost,
              ownCost.prompt_tokens,
            ),
            output_price_per_million: ownPrice(
              ownCost.cost_details.upstream_inference_completions_cost,
              ownCost.completion_tokens,
            ),
          },
        },
      ],
    },
    providers: {
      xai: { kind: 'xai', base_url: provider.url, apis: ['chat-completions'] },
      openrouter: { kind: 'openrouter', base_url: provider.url, apis: ['chat-completions'] },
      additive: { base_url: provider.url, apis: ['chat-completions'], reasoning_tokens: 'additive' },
      ranks: { base_url: provider.url, apis: ['rerank'] },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const head = { id: 'c', created: 1, model: 'grok-3-mini' };
function chatAnswer(usage: Json, isStream: boolean): typeof answer {
  const message = { role: 'assistant', content: 'Hello' };
  const choice = { index: 0, finish_reason: 'stop' };
  if (!isStream) {
    const body = { ...head, object: 'chat.completion', choices: [{ ...choice, message }], usage };
    return { type: 'application/json', body: JSON.stringify(body) };
  }
  const chunks = [{ choices: [{ ...choice, delta: message }] }, { choices: [], usage }].map((chunk) =>
    JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk }),
  );
  return { type: 'text/event-stream', body: [...chunks, '[DONE]'].map((text) => `data: ${text}\n\n`).join('') };
}

const costOf = async (response: Response): Promise<number> => {
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.anything()]);
  const record = await gateway.recordOf(response);
  expect(record?.estimated).toBe(false);
  return Number(record?.costPicoUsd) / 1e12;
};

describe('a call costs what its provider’s own bill says', () => {
  const calls = {
    'chat-completions': (model: string, stream: boolean) => gateway.post(hello(model, { stream })),
    messages: (model: string, stream: boolean) =>
      gateway.postTo('/messages', { ...hello(model), max_tokens: 4_096, stream }),
    responses: (model: string, stream: boolean) => gateway.postTo('/responses', { model, input: 'Hello', stream }),
  };

  it.each(Object.entries(recorded))(
    'with the usage of %s, on every interface, whole and streamed',
    async (_file, usage) => {
      for (const ask of Object.values(calls)) {
        for (const isStream of [false, true]) {
          for (const model of ['grok', 'grok-additive']) {
            answer = chatAnswer(usage, isStream);
            const cost = await costOf(await ask(model, isStream));
            expect(Math.round(cost * ticksOfUsd)).toBe(usage.cost_in_usd_ticks);
          }
        }
      }
    },
  );

  it('with the usage that OpenRouter reports beside its own cost, on every interface, whole and streamed', async () => {
    expect(ownCosts).toHaveLength(1);
    for (const ask of Object.values(calls)) {
      for (const isStream of [false, true]) {
        answer = chatAnswer({ ...ownCost }, isStream);
        expect(await costOf(await ask('routed', isStream))).toBeCloseTo(ownCost.cost, 12);
      }
    }
  });

  it('and reasoning counts once if it is part of the completion', async () => {
    const included = {
      prompt_tokens: 10,
      completion_tokens: 100,
      total_tokens: 110,
      completion_tokens_details: { reasoning_tokens: 90 },
    };
    for (const ask of Object.values(calls)) {
      answer = chatAnswer(included, false);
      expect(await costOf(await ask('grok', false))).toBeCloseTo((10 * 0.3 + 100 * 0.5) / 1e6, 12);
    }
  });

  it('and tokens that another interface’s name says are cached cost what cached ones cost', async () => {
    const usage = { input_tokens: 1_000, output_tokens: 10, input_tokens_details: { cached_tokens: 800 } };
    for (const ask of Object.values(calls)) {
      for (const isStream of [false, true]) {
        answer = chatAnswer(usage, isStream);
        expect(await costOf(await ask('grok', isStream))).toBeCloseTo((200 * 0.3 + 800 * 0.075 + 10 * 0.5) / 1e6, 12);
      }
    }
  });
});

describe('an order of documents', () => {
  const ranked = [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ];
  const rank = (body: Json, model = 'ranker') => {
    answer = { type: 'application/json', body: JSON.stringify(body) };
    return gateway.postTo('/rerank', { model, query: 'Oslo', documents: ['Bread', 'Oslo in Norway'] });
  };
  const perSearch = 0.002;

  it.each([
    // Source: https://docs.fireworks.ai/api-reference/rerank-documents
    [
      'Fireworks',
      {
        object: 'list',
        model: 'm',
        data: ranked,
        usage: { prompt_tokens: 120, total_tokens: 120, completion_tokens: 0 },
      },
      perSearch + (120 * 0.3) / 1e6,
    ],
    // Source: tests of vercel/ai, togetherai-reranking.1.json.
    [
      'Together',
      {
        id: 'o',
        object: 'rerank',
        model: 'Salesforce/Llama-Rank-v1',
        results: ranked,
        usage: { prompt_tokens: 2_966, completion_tokens: 0, total_tokens: 2_966 },
      },
      perSearch + (2_966 * 0.3) / 1e6,
    ],
    // Source: https://docs.vllm.ai/en/latest/models/pooling_models/scoring
    [
      'vLLM and Jina',
      { id: 'rerank-1', model: 'm', usage: { total_tokens: 56 }, results: ranked },
      perSearch + (56 * 0.3) / 1e6,
    ],
    // Source: https://docs.cohere.com/v2/reference/rerank; cohere-reranking.1.json.
    [
      'Cohere',
      {
        id: 'b',
        results: ranked,
        meta: { api_version: { version: '2' }, billed_units: { search_units: 1 }, tokens: { input_tokens: 400 } },
      },
      perSearch,
    ],
    [
      'hosts of its form',
      { id: 'b', results: ranked, meta: { tokens: { input_tokens: 400, output_tokens: 0 } } },
      perSearch + (400 * 0.3) / 1e6,
    ],
  ])('of %s reaches the client as results, and is billed as reported', async (_host, body, cost) => {
    const response = await rank(body, cost === perSearch ? 'searcher' : 'ranker');
    const { results, data } = (await response.clone().json()) as Json;
    expect([response.status, results, data]).toEqual([200, ranked, undefined]);
    expect(await costOf(response)).toBeCloseTo(cost, 12);
  });

  it('is none if its list is no list: the next provider is called', async () => {
    expect((await rank({ data: 'none', usage: { total_tokens: 5 } })).status).toBe(502);
  });
});
