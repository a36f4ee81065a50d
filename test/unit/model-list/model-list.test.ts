import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '#jest';
import { readLitellm } from '../../../infra/model-list/read-litellm.ts';
import { comparisonOf, writeListDocument } from '../../../infra/model-list/write-list.ts';
import {
  type ListedModel,
  listColumns,
  listedFeatures,
  listedModalities,
  loadModelList,
  openModelList,
  providerKindNames,
} from '../../../shared/configuration/model-list/index.ts';
import { parsePricePerMillion, parseUsd } from '../../../shared/foundation/money/index.ts';
import { servedApis } from '../../support/kind-answers.ts';

const folder = new URL('../../../shared/configuration/model-list/', import.meta.url);
const readText = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const document: Parameters<typeof openModelList>[0] = JSON.parse(readText('models.json'));
const list = await loadModelList();
const nowMs = Date.parse(list.date);

describe('the shipped model list', () => {
  const models = document.models.map(([kind, name]): ListedModel => {
    const model = providerKindNames.some((known) => known === kind) ? list.find(kind as never, name) : undefined;
    if (model === undefined) throw new Error(`${kind} ${name} cannot be found`);
    return model;
  });

  it('says its date, its source and its licence, which is beside it', () => {
    expect(document).toMatchObject({ date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), licence: 'MIT' });
    expect(document.source).toMatch(/^litellm \d+\.\d+\.\d+ on PyPI/);
    expect(document.columns).toEqual(listColumns);
    expect(readText('LICENSE-litellm')).toContain('MIT');
  });

  it('has each model once, in rows that a gateway file could have written', () => {
    const names = models.map(({ kind, name }) => `${kind} ${name}`);
    expect(new Set(names).size).toBe(names.length);
    const wrong = models.filter(
      ({ kind, prices, tiers, apis, features, modalities, contextLength, maxOutputTokens }) => {
        const texts = [prices, ...tiers].flatMap(({ input, output, cachedInput, cacheWrite, cacheWrite1h }) =>
          [input, output, cachedInput, cacheWrite, cacheWrite1h].filter((text) => text !== undefined),
        );
        const bounds = [0, ...tiers.map(({ abovePromptTokens }) => abovePromptTokens)];
        const isRight =
          texts.every((text) => parsePricePerMillion(text) !== undefined) &&
          bounds.every((bound, index) => index === 0 || bound > (bounds[index - 1] ?? 0)) &&
          bounds.every((bound) => bound < contextLength) &&
          apis.length > 0 &&
          // Embeddings are also listed if a provider of the kind has its own form for them.
          apis.every((api) => api === 'embeddings' || servedApis(kind).includes(api)) &&
          features.every((feature) => listedFeatures.includes(feature)) &&
          modalities[0] === 'text' &&
          modalities.every((modality) => listedModalities.includes(modality)) &&
          [contextLength, maxOutputTokens].every((tokens) => Number.isSafeInteger(tokens) && tokens > 0);
        return !isRight;
      },
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    ['openai', 'gpt-image-1', 'images'],
    ['openai', 'tts-1', 'speech'],
    ['openai', 'whisper-1', 'transcriptions'],
    ['openai', 'omni-moderation-latest', 'moderations'],
    ['azure', 'dall-e-3', 'images'],
    ['azure', 'tts-1', 'speech'],
    ['azure', 'whisper', 'transcriptions'],
    ['google', 'gemini-2.5-flash-image', 'images'],
    ['vertex', 'gemini-2.5-flash-image', 'images'],
    ['vertex', 'text-embedding-005', 'embeddings'],
    ['bedrock', 'amazon.nova-canvas-v1:0', 'images'],
    ['bedrock', 'cohere.rerank-v3-5:0', 'rerank'],
    ['cohere', 'rerank-v3.5', 'rerank'],
    ['groq', 'whisper-large-v3', 'transcriptions'],
    ['mistral', 'voxtral-mini-latest', 'transcriptions'],
    ['together', 'Salesforce/Llama-Rank-V1', 'rerank'],
    ['fireworks', 'accounts/fireworks/models/qwen3-reranker-8b', 'rerank'],
  ] as const)('has %s’s %s, which does %s, with a price in USD', (kind, name, api) => {
    const { apis, units, prices, media } = list.find(kind, name) ?? {};
    expect(apis).toContain(api);
    const { image_prices: byImage = {}, ...others } = units ?? {};
    const texts = [...Object.values(byImage), ...Object.values(others)];
    expect(texts.filter((text) => parseUsd(text) === undefined || Number(text) === 0)).toEqual([]);
    const tokens = [prices?.input, prices?.output, ...Object.values(media ?? {})].some((text) => Number(text) > 0);
    expect(texts.length > 0 || tokens).toBe(api !== 'moderations');
  });

  it('has the price of an image that a call does not describe, as its provider documents it', () => {
    const { units } = list.find('azure', 'dall-e-3') ?? {};
    expect(units?.image_prices?.default).toBe('0.044');
    expect(units?.image_prices?.default).toBe(units?.image_prices?.['1024x1024/standard']);
  });

  it('names models as their providers do, not as its source does', () => {
    const prefixed = models.filter(
      ({ kind, name }) =>
        kind !== 'openrouter' && /^(vertex_ai|gemini|azure|bedrock|mistral|xai|deepseek|together_ai)\//.test(name),
    );
    expect(prefixed).toEqual([]);
  });

  it.each([
    ['openai', 50],
    ['azure', 50],
    ['anthropic', 10],
    ['google', 10],
    ['vertex', 10],
    ['bedrock', 200],
    ['groq', 2],
    ['mistral', 20],
    ['deepseek', 5],
    ['xai', 20],
    ['openrouter', 100],
  ] as const)('has the models of %s, with features and bounds', (kind, least) => {
    const kindModels = models.filter((model) => model.kind === kind);
    expect(kindModels.length).toBeGreaterThanOrEqual(least);
    for (const feature of ['tools', 'json_mode', 'streaming'] as const) {
      expect(kindModels.some(({ features }) => features.includes(feature))).toBe(true);
    }
    expect(kindModels.some(({ prices }) => prices.cachedInput !== undefined)).toBe(true);
  });

  it('has models of Amazon Bedrock by their names, their inference profiles and their regional prices', () => {
    const names = models.flatMap(({ kind, name }) => (kind === 'bedrock' ? [name] : []));
    for (const form of [
      /^anthropic\.claude-/,
      /^global\./,
      /^us\./,
      /^eu\./,
      /^(apac|jp|au)\./,
      /^[a-z]{2}-[a-z]+-\d\/[a-z]+\./,
    ]) {
      expect(names.some((name) => form.test(name))).toBe(true);
    }
  });

  it('has tiers and prices of what is written into a cache if their providers have them', () => {
    expect(list.find('openai', 'gpt-5.4')?.tiers).toEqual([
      {
        abovePromptTokens: 272_000,
        input: '5.00',
        output: '22.50',
        cachedInput: '0.50',
        cacheWrite: undefined,
        cacheWrite1h: undefined,
      },
    ]);
    expect(list.find('anthropic', 'claude-sonnet-4-5')?.prices).toMatchObject({
      cacheWrite: '3.75',
      cacheWrite1h: '6.00',
    });
  });

  it('has prices of sound if they are not those of text, and no model with such prices and tiers', () => {
    expect(list.find('google', 'gemini-2.5-flash')?.media).toEqual({ audioInput: '1.00' });
    expect(list.find('openai', 'gpt-audio-1.5')).toMatchObject({
      media: { audioInput: '32.00', audioOutput: '64.00' },
      modalities: ['text', 'audio'],
    });
    expect(list.find('openai', 'gpt-5.4')?.media).toEqual({});
    // A tier would need its own prices for these tokens.
    const both = models.filter(({ media, tiers }) => Object.keys(media).length > 0 && tiers.length > 0);
    expect(both.map(({ name }) => name)).toEqual([]);
    const dear = models.filter(
      ({ media, modalities }) => media.audioInput !== undefined && !modalities.includes('audio'),
    );
    expect(dear.map(({ name }) => name)).toEqual([]);
    const texts = models.flatMap(({ media }) => Object.values(media));
    expect(texts.filter((text) => parsePricePerMillion(text) === undefined)).toEqual([]);
  });

  // The two sources disagree about some prices.
  it('has every price in which a second source differs printed by the command that its page names, and stays as it is', () => {
    expect(readText('README.md')).toContain('npm run --silent model-list -- --differences');
    const main = fileURLToPath(new URL('../../../infra/model-list/main.ts', import.meta.url));
    const printedText = execFileSync(process.execPath, [main, '--differences'], { encoding: 'utf8' });
    expect(printedText).toBe(comparisonOf(models, nowMs));
    expect(printedText.split('\n').filter((line) => line.startsWith('| ')).length).toBeGreaterThan(10);
    expect(JSON.parse(readText('models.json'))).toEqual(document);
  });
});

describe('a list that others keep', () => {
  const chat = {
    mode: 'chat',
    max_input_tokens: 1_000,
    max_output_tokens: 100,
    input_cost_per_token: 2e-6,
    output_cost_per_token: 8e-6,
  };
  const only = (name: string, model: object) => readLitellm({ [name]: { ...chat, ...model } })[0];

  it('is read with prices, tiers, bounds, features, modalities, interfaces and the end of a model', () => {
    const model = {
      litellm_provider: 'openai',
      cache_read_input_token_cost: 5e-7,
      max_input_tokens: 400_000,
      input_cost_per_token_above_200k_tokens: 4e-6,
      output_cost_per_token_above_200k_tokens: 12e-6,
      // The bound is above the model's context, so the price is never reached.
      input_cost_per_token_above_400k_tokens: 5e-6,
      output_cost_per_token_above_400k_tokens: 15e-6,
      supports_function_calling: true,
      supports_response_schema: true,
      supports_vision: true,
      supports_pdf_input: true,
      deprecation_date: '2027-01-01',
    };
    expect(only('gpt-9', model)).toEqual({
      kind: 'openai',
      name: 'gpt-9',
      prices: { input: '2.00', output: '8.00', cachedInput: '0.50' },
      contextLength: 400_000,
      maxOutputTokens: 100,
      features: ['tools', 'vision', 'json_mode', 'json_schema', 'streaming'],
      modalities: ['text', 'image', 'file'],
      apis: ['chat-completions', 'responses'],
      tiers: [{ abovePromptTokens: 200_000, input: '4.00', output: '12.00' }],
      media: {},
      endsOn: '2027-01-01',
    });
  });

  it.each([
    ['vertex_ai/claude-9', 'vertex_ai-anthropic_models', 'vertex', 'messages'],
    ['vertex_ai/gemini-9', 'vertex_ai-language-models', 'vertex', 'generate-content'],
    ['command-9', 'cohere_chat', 'cohere', 'chat-completions'],
  ])('lists %s of %s where its provider speaks', (listedName, litellm_provider, kind, api) => {
    expect(only(listedName, { litellm_provider })).toMatchObject({ kind, apis: [api] });
  });

  it.each([
    ['vertex_ai/claude-9@default', { litellm_provider: 'vertex_ai-anthropic_models' }],
    ['anthropic.claude-9@20270101', { litellm_provider: 'bedrock' }],
    ['embed-multilingual-light-v3.0', { litellm_provider: 'cohere', mode: 'embedding' }],
  ])('leaves out %s, which its provider calls otherwise or at another price', (listedName, model) => {
    expect(only(listedName, model)).toBeUndefined();
  });

  it.each([
    ['vertex_ai/gemini-9', 'vertex_ai-language-models', 'gemini-9'],
    ['gemini-9', 'vertex_ai-language-models', 'gemini-9'],
    ['gemini/gemini-9', 'gemini', 'gemini-9'],
    ['azure/gpt-9', 'azure', 'gpt-9'],
    ['bedrock/eu-west-1/acme.large-v1:0', 'bedrock', 'eu-west-1/acme.large-v1:0'],
    ['eu.acme.large-v1:0', 'bedrock_converse', 'eu.acme.large-v1:0'],
    ['vertex_ai/claude-9@20270101', 'vertex_ai-anthropic_models', 'claude-9@20270101'],
    ['command-9', 'cohere_chat', 'command-9'],
  ])('names %s as its provider does', (listedName, litellm_provider, name) => {
    expect(only(listedName, { litellm_provider })?.name).toBe(name);
  });

  it.each([
    ['what no provider of the kind serves', 'orca-9', { litellm_provider: 'deepseek', mode: 'image_generation' }],
    ['a film', 'gpt-9', { litellm_provider: 'openai', mode: 'video_generation' }],
    ['what answers on a socket alone', 'gpt-9-realtime', { litellm_provider: 'openai', mode: 'audio_transcription' }],
    [
      'what has another path',
      'gpt-9',
      { litellm_provider: 'openai', mode: 'audio_speech', supported_endpoints: ['/v1/realtime'] },
    ],
    [
      'what has a price of nothing',
      'rerank-9',
      { litellm_provider: 'cohere', mode: 'rerank', input_cost_per_token: 0, output_cost_per_token: 0 },
    ],
    [
      'an image model whose form no package writes',
      'imagen-9',
      { litellm_provider: 'gemini', mode: 'image_generation' },
    ],
    ['vectors of a provider that makes none here', 'embed-9', { litellm_provider: 'deepseek', mode: 'embedding' }],
    ['what has no price', 'gpt-9', { litellm_provider: 'openai', input_cost_per_token: undefined }],
    [
      'an answer of audio without a price of its tokens',
      'gpt-9',
      { litellm_provider: 'openai', supported_output_modalities: ['text', 'audio'] },
    ],
    ['a provider of no kind', 'x-9', { litellm_provider: 'nobody' }],
    ['an alias of the list', 'azure/eu/gpt-9', { litellm_provider: 'azure' }],
  ])('is read without %s', (_what, name, model) => {
    expect(only(name, model)).toBeUndefined();
  });

  it('takes the more expensive of two rows for one model, and prices of sound and images if they are not those of text', () => {
    const rows = readLitellm({
      'gemini-9': { ...chat, litellm_provider: 'vertex_ai-language-models' },
      'vertex_ai/gemini-9': { ...chat, litellm_provider: 'vertex_ai-language-models', output_cost_per_token: 9e-6 },
    });
    expect(rows.map(({ prices }) => prices.output)).toEqual(['9.00']);
    const audio = { litellm_provider: 'gemini', supports_audio_input: true, input_cost_per_audio_token: 3e-6 };
    const both = { modalities: ['text', 'audio'] };
    expect(only('gemini/gemini-9', audio)).toMatchObject({ ...both, media: { audioInput: '3.00' } });
    const cheap = only('gemini/gemini-9', { ...audio, input_cost_per_audio_token: 2e-6 });
    expect([cheap?.modalities, cheap?.media]).toEqual([both.modalities, {}]);
    const speaks = { supported_output_modalities: ['text', 'audio'], output_cost_per_audio_token: 16e-6 };
    expect(only('gemini/gemini-9', { ...audio, ...speaks })?.media).toEqual({
      audioInput: '3.00',
      audioOutput: '16.00',
    });
  });

  const task = (mode: string, model: object) => ({ mode, ...model });
  it.each([
    [
      'gpt-image-9',
      task('image_generation', {
        litellm_provider: 'openai',
        input_cost_per_token: 5e-6,
        input_cost_per_image_token: 8e-6,
        output_cost_per_image_token: 30e-6,
        cache_read_input_token_cost: 1e-6,
        cache_read_input_image_token_cost: 2e-6,
      }),
      // Without a text price, tokens that are no image cost as image tokens; a cached token costs as the most expensive
      // one.
      {
        prices: { input: '5.00', output: '30.00', cachedInput: '2.00' },
        media: { imageInput: '8.00' },
        apis: ['images'],
      },
    ],
    [
      'gemini/gemini-9-image',
      task('image_generation', {
        litellm_provider: 'gemini',
        input_cost_per_token: 1e-6,
        output_cost_per_token: 3e-6,
        output_cost_per_image_token: 60e-6,
        output_cost_per_image: 0.05,
        max_output_tokens: 9,
        supported_endpoints: ['/v1/chat/completions', '/v1/images/generations'],
      }),
      {
        apis: ['generate-content', 'images'],
        media: { imageOutput: '60.00' },
        units: { output_price_per_image: '0.05' },
        maxOutputTokens: 9,
      },
    ],
    [
      'tts-9',
      task('audio_speech', { litellm_provider: 'openai', input_cost_per_character: 15e-6 }),
      { prices: { input: '0.00', output: '0.00' }, units: { input_price_per_character: '0.000015' }, apis: ['speech'] },
    ],
    [
      // One price may have two names.
      'whisper-9',
      task('audio_transcription', {
        litellm_provider: 'openai',
        input_cost_per_second: 3.083e-5,
        output_cost_per_second: 3e-5,
      }),
      { units: { input_price_per_second: '0.00003083' }, apis: ['transcriptions'], modalities: ['text', 'audio'] },
    ],
    [
      'rerank-9',
      task('rerank', { litellm_provider: 'cohere', input_cost_per_query: 0.0025, input_cost_per_token: 0 }),
      { kind: 'cohere', units: { price_per_request: '0.0025' }, apis: ['rerank'] },
    ],
    [
      'judge-9',
      task('moderation', { litellm_provider: 'openai', input_cost_per_token: 0 }),
      { prices: { input: '0.00', output: '0.00' }, apis: ['moderations'] },
    ],
    [
      'text-embedding-9',
      task('embedding', {
        litellm_provider: 'vertex_ai-embedding-models',
        input_cost_per_token: 1e-7,
        max_input_tokens: 9,
      }),
      { kind: 'vertex', prices: { input: '0.10' }, apis: ['embeddings'] },
    ],
  ])('is read with %s, in the prices of what it makes', (name, model, expected) => {
    expect(readLitellm({ [name]: model })).toMatchObject([expected]);
  });

  it('has prices of images by size and quality, each from a row of its own, the most expensive if a quality is left out', () => {
    const sized = (input_cost_per_image: number) =>
      task('image_generation', { litellm_provider: 'openai', input_cost_per_image });
    const whole = task('image_generation', {
      litellm_provider: 'openai',
      output_cost_per_image_token: 1e-5,
      max_output_tokens: 5_000,
    });
    const rows = {
      'low/1024-x-1024/gpt-image-9': sized(0.01),
      // The list has the cheapest quality twice more: by a former name, and without a name.
      'standard/1024-x-1024/gpt-image-9': sized(0.01),
      '1024-x-1024/gpt-image-9': sized(0.01),
      'azure/hd/1024-x-1792/draw-9': task('image_generation', {
        litellm_provider: 'azure',
        input_cost_per_pixel: 7.19343e-8,
      }),
      'azure/standard/1024-x-1024/draw-8': task('image_generation', {
        litellm_provider: 'azure',
        input_cost_per_pixel: 0,
      }),
    };
    const pricesOf = (more: object) =>
      Object.fromEntries(
        readLitellm({ 'gpt-image-9': whole, ...rows, ...more }).map(({ name, units }) => [name, units?.image_prices]),
      );
    const low = { '1024x1024/low': '0.01' };
    expect(pricesOf({})).toEqual({ 'gpt-image-9': { ...low, default: '0.05' }, 'draw-9': { '1024x1792/hd': '0.132' } });
    const dalle = { 'hd/1024-x-1024/dall-e-3': sized(0.08), 'standard/1024-x-1024/dall-e-3': sized(0.04) };
    expect(pricesOf(dalle)['dall-e-3']).toEqual({
      ...{ '1024x1024/hd': '0.08', '1024x1024/standard': '0.04' },
      default: '0.04',
    });
    expect(pricesOf({ 'high/1024-x-1024/gpt-image-9': sized(0.2) })['gpt-image-9']).toEqual({
      ...low,
      '1024x1024/high': '0.20',
    });
  });

  it('is written in a form that is read again, and in the same order whatever its own was', () => {
    const rows = readLitellm({
      'gpt-9': { ...chat, litellm_provider: 'openai' },
      'claude-9': { ...chat, litellm_provider: 'anthropic' },
      'gpt-8': { ...chat, litellm_provider: 'openai', input_cost_per_audio_token: 9e-6 },
      'tts-9': task('audio_speech', { litellm_provider: 'openai', input_cost_per_character: 15e-6 }),
    });
    const origin = { source: 'a test', nowMs };
    const listDocument = writeListDocument(rows, origin);
    expect(writeListDocument(rows.toReversed(), origin)).toEqual(listDocument);
    const openList = openModelList(JSON.parse(listDocument.document));
    for (const row of rows) expect(openList.find(row.kind, row.name)).toEqual(row);
  });
});
