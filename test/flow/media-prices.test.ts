// Tokens of sound and of images have prices of their own, as each provider format reports them, for clients of each
// interface.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { png } from '../support/png.ts';
import { eventTexts, type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

const chatUsage = {
  prompt_tokens: 100,
  completion_tokens: 50,
  prompt_tokens_details: { cached_tokens: 20, audio_tokens: 40, image_tokens: 10 },
  completion_tokens_details: { audio_tokens: 30, image_tokens: 5 },
};
const responseUsage = {
  input_tokens: 100,
  output_tokens: 50,
  total_tokens: 150,
  input_tokens_details: chatUsage.prompt_tokens_details,
  output_tokens_details: { reasoning_tokens: 0, ...chatUsage.completion_tokens_details },
};
const of = (modality: string, tokenCount: number) => ({ modality, tokenCount });
const usageMetadata = {
  promptTokenCount: 120,
  candidatesTokenCount: 50,
  cachedContentTokenCount: 40,
  promptTokensDetails: [of('TEXT', 50), of('AUDIO', 60), of('IMAGE', 10)],
  cacheTokensDetails: [of('TEXT', 20), of('AUDIO', 20)],
  candidatesTokensDetails: [of('TEXT', 15), of('AUDIO', 30), of('IMAGE', 5)],
};
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'g',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'So.', annotations: [] }],
    },
  ],
  usage: responseUsage,
};
const candidates = [{ content: { role: 'model', parts: [{ text: 'So.' }] }, finishReason: 'STOP' }];
const choice = { index: 0, finish_reason: 'stop' };
const message = { role: 'assistant', content: 'So.' };

/** Answers by the path of the call: the whole answer, then the stream. */
const answers: readonly (readonly [RegExp, string, string])[] = [
  [
    /\/chat\/completions$/,
    JSON.stringify({ id: 'c', choices: [{ ...choice, message: message }], usage: chatUsage }),
    `${eventTexts({ id: 'c', choices: [{ ...choice, delta: message }] }, { id: 'c', choices: [], usage: chatUsage })}data: [DONE]\n\n`,
  ],
  [
    /\/responses$/,
    JSON.stringify(response),
    eventTexts(
      { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { ...response.output[0], content: [] },
      },
      {
        type: 'response.output_text.delta',
        sequence_number: 2,
        output_index: 0,
        content_index: 0,
        item_id: 'msg_1',
        delta: 'So.',
      },
      { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item: response.output[0] },
      { type: 'response.completed', sequence_number: 4, response },
    ),
  ],
  [
    /:(streamG|g)enerateContent/,
    JSON.stringify({ candidates, usageMetadata }),
    eventTexts({ candidates, usageMetadata }),
  ],
];

const mediaPrices = {
  audio_input_price_per_million: '10',
  image_input_price_per_million: '5',
  audio_output_price_per_million: '20',
  image_output_price_per_million: '30',
};
const enoughKey = newKey();
const shortKey = newKey();
let provider: ScriptedProvider;
let gateway: Harness;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    const path = outgoing.req.url ?? '';
    const [, whole, streamAnswer] = answers.find(([form]) => form.test(path.replace(/\?.*/, ''))) ?? [];
    const isStream = path.includes('streamGenerate') || (provider.bodies.at(-1) ?? '').includes('"stream":true');
    outgoing.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    outgoing.end(isStream ? streamAnswer : whole);
  });
  const more = {
    context_length: 100_000,
    input_price_per_million: '1',
    output_price_per_million: '2',
    cached_input_price_per_million: '0.5',
    supported_params: { vision: true },
  };
  const priced = { ...more, ...mediaPrices };
  const at = (id: string, prices: Json) => [{ provider: id, upstream: 'omni', more: prices }];
  gateway = await startHarness({
    models: {
      'acme/chat': at('chat', priced),
      'acme/responses': at('responses', priced),
      'acme/gemini': at('gemini', priced),
      'acme/unpriced': at('chat', more),
      'acme/tiers': at('chat', {
        ...more,
        price_tiers: [
          { above_prompt_tokens: 99, input_price_per_million: '100', output_price_per_million: '200', ...mediaPrices },
        ],
      }),
      'acme/small': at('chat', { ...priced, context_length: 1_000, max_output_tokens: 1_000 }),
    },
    modelMembers: { 'acme/small': { modalities: ['text', 'image', 'audio'] } },
    providers: {
      chat: { base_url: provider.url },
      responses: { base_url: provider.url, apis: ['responses'] },
      gemini: { base_url: provider.url, apis: ['generate-content'] },
    },
    moreWorkspaces: [
      {
        id: 'limited',
        credit_usd: '9',
        keys: [
          { name: 'enough', key: enoughKey, spend_limit_usd: '0.0103' },
          { name: 'short', key: shortKey, spend_limit_usd: '0.010299' },
        ],
      },
    ],
  });
});
afterAll(async () => {
  await expectBalancedBooks(gateway);
  await gateway.stop();
  await provider.stop();
});

const picture = png(8, 8);
const clients: Readonly<Record<string, (model: string) => Json>> = {
  '/chat/completions': (model) => ({
    model,
    max_tokens: 100,
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] }],
  }),
  '/messages': (model) => ({
    model,
    max_tokens: 100,
    messages: [
      {
        role: 'user',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture.split(',')[1] } }],
      },
    ],
  }),
  '/responses': (model) => ({
    model,
    max_output_tokens: 100,
    store: false,
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: picture, detail: 'auto' }] }],
  }),
};

async function costOf(path: string, body: Json): Promise<bigint | undefined> {
  const answer = await gateway.postTo(path, body);
  const text = await answer.text();
  expect({ status: answer.status, text: answer.status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
  const last = await gateway.lastRecord();
  return last?.costPicoUsd;
}

// Input is 30 tokens of text at 1, 20 cached at 0.5, 40 of sound at 10, 10 of images at 5; output is 15 at 2, 30 of
// sound at 20, 5 of images at 30.
const exact = 1_270_000_000n;

describe('tokens of sound and images', () => {
  const paths = Object.keys(clients);
  const cases = ['acme/chat', 'acme/responses', 'acme/gemini'].flatMap((model) =>
    paths.flatMap((path) => [false, true].map((stream) => ({ model, path, stream }))),
  );
  it.each(cases)('cost what their entry says: $model, $path, stream: $stream', async ({ model, path, stream }) => {
    const body = clients[path]?.(model) ?? {};
    // Gemini reads 20 more tokens of sound from a cache.
    const expected = model === 'acme/gemini' ? exact + 10_000_000n : exact;
    expect(await costOf(path, { ...body, ...(stream ? { stream: true } : {}) })).toBe(expected);
  });

  it('are billed as text if their entry has no price for them', async () => {
    const body = clients['/chat/completions']?.('acme/unpriced') ?? {};
    expect(await costOf('/chat/completions', body)).toBe(190_000_000n);
  });

  it('have the prices of the tier that the prompt reaches', async () => {
    const body = clients['/chat/completions']?.('acme/tiers') ?? {};
    // 30 tokens of text and 20 cached cost 100, 15 of output cost 200; the other tokens as above.
    expect(await costOf('/chat/completions', body)).toBe(5_000_000_000n + 450_000_000n + 3_000_000_000n + 750_000_000n);
  });

  it('are text if the request has nothing else, so that no call costs more than was reserved for it', async () => {
    const body = { model: 'acme/chat', max_tokens: 100, messages: [{ role: 'user', content: 'x'.repeat(200) }] };
    expect(await costOf('/chat/completions', body)).toBe(90_000_000n + 780_000_000n);
  });

  it('are reported in the answer, with the exact cost', async () => {
    const answer = await gateway.post(clients['/chat/completions']?.('acme/gemini') ?? {});
    const { usage } = (await answer.json()) as { usage: Json };
    expect(usage).toMatchObject({
      cost_usd: '0.00128',
      prompt_tokens_details: { cached_tokens: 40, audio_tokens: 40, image_tokens: 10 },
      completion_tokens_details: { audio_tokens: 30, image_tokens: 5 },
    });
  });
});

it('what is reserved for sound is all of the context at its price, and the output at its highest price', async () => {
  const audioMessages = [
    { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
  ];
  const ask = (key: string) =>
    gateway.postTo(
      '/chat/completions',
      { model: 'acme/small', max_tokens: 10, messages: audioMessages },
      { authorization: `Bearer ${key}` },
    );
  const before = provider.bodies.length;
  expect((await ask(shortKey)).status).toBe(402);
  expect(provider.bodies).toHaveLength(before);
  expect((await ask(enoughKey)).status).toBe(200);
});
