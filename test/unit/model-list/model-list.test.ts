import { readFileSync } from 'node:fs';
import { describe, expect, it } from '#jest';
import { readLitellm } from '../../../infra/model-list/read-litellm.ts';
import { comparisonOf, writeListDocument } from '../../../infra/model-list/write-list.ts';
import {
  type ListDocument,
  type ListedModel,
  listColumns,
  listedFeatures,
  listedModalities,
  loadModelList,
  openModelList,
  providerKindNames,
  providerKinds,
} from '../../../shared/configuration/model-list/index.ts';
import { parsePricePerMillion } from '../../../shared/foundation/money/index.ts';

const folder = new URL('../../../shared/configuration/model-list/', import.meta.url);
const readText = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const document = JSON.parse(readText('models.json')) as ListDocument;
const list = await loadModelList();
const nowMs = Date.parse(list.date);

describe('the shipped model list', () => {
  const models = document.models.map(([kind, name]): ListedModel => {
    const model = providerKindNames.some((known) => known === kind) ? list.find(kind as never, name) : undefined;
    if (model === undefined) throw new Error(`${kind} ${name} cannot be found`);
    return model;
  });

  it('says its date, its source and its licence, which stands beside it', () => {
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
          // Vectors are listed too where a provider of the kind makes them in a form of its own.
          apis.every((api) => api === 'embeddings' || providerKinds[kind].apis.includes(api)) &&
          features.every((feature) => listedFeatures.includes(feature)) &&
          modalities[0] === 'text' &&
          modalities.every((modality) => listedModalities.includes(modality)) &&
          [contextLength, maxOutputTokens].every((tokens) => Number.isSafeInteger(tokens) && tokens > 0);
        return !isRight;
      },
    );
    expect(wrong).toEqual([]);
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
    const own = models.filter((model) => model.kind === kind);
    expect(own.length).toBeGreaterThanOrEqual(least);
    for (const feature of ['tools', 'json_mode', 'streaming'] as const) {
      expect(own.some(({ features }) => features.includes(feature))).toBe(true);
    }
    expect(own.some(({ prices }) => prices.cachedInput !== undefined)).toBe(true);
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

  it('has tiers and prices of what is written into a cache where their providers have them', () => {
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

  it('has prices of sound where they are not those of text, and no model with such prices and tiers', () => {
    expect(list.find('google', 'gemini-2.5-flash')?.media).toEqual({ audioInput: '1.00' });
    expect(list.find('openai', 'gpt-audio-1.5')).toMatchObject({
      media: { audioInput: '32.00', audioOutput: '64.00' },
      modalities: ['text', 'audio'],
    });
    expect(list.find('openai', 'gpt-5.4')?.media).toEqual({});
    // A tier would need such prices of its own.
    const both = models.filter(({ media, tiers }) => Object.keys(media).length > 0 && tiers.length > 0);
    expect(both.map(({ name }) => name)).toEqual([]);
    const dear = models.filter(
      ({ media, modalities }) => media.audioInput !== undefined && !modalities.includes('audio'),
    );
    expect(dear.map(({ name }) => name)).toEqual([]);
    const texts = models.flatMap(({ media }) => Object.values(media));
    expect(texts.filter((text) => parsePricePerMillion(text) === undefined)).toEqual([]);
  });

  // Where the two sources are known to disagree.
  it('is beside a page of every price in which a second source differs, by the versions of both that are installed', () => {
    const cells = (text: string) => text.replace(/ *\| */g, '|').replace(/-{3,}/g, '---');
    expect(cells(readText('SOURCES.md'))).toBe(cells(comparisonOf(models, nowMs)));
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
      // Above what it takes, so never reached.
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
    ['vertex_ai/gemini-9', 'vertex_ai-language-models', 'gemini-9'],
    ['gemini-9', 'vertex_ai-language-models', 'gemini-9'],
    ['gemini/gemini-9', 'gemini', 'gemini-9'],
    ['azure/gpt-9', 'azure', 'gpt-9'],
    ['bedrock/eu-west-1/acme.large-v1:0', 'bedrock', 'eu-west-1/acme.large-v1:0'],
    ['eu.acme.large-v1:0', 'bedrock_converse', 'eu.acme.large-v1:0'],
  ])('names %s as its provider does', (listed, litellm_provider, name) => {
    expect(only(listed, { litellm_provider })?.name).toBe(name);
  });

  it.each([
    ['what is priced by something else than tokens', 'gpt-9', { litellm_provider: 'openai', mode: 'image_generation' }],
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

  it('takes the dearer of two rows for one model, and prices of sound and images where they are not those of text', () => {
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

  it('is written in a form that is read again, and in the same order whatever its own was', () => {
    const rows = readLitellm({
      'gpt-9': { ...chat, litellm_provider: 'openai' },
      'claude-9': { ...chat, litellm_provider: 'anthropic' },
      'gpt-8': { ...chat, litellm_provider: 'openai', input_cost_per_audio_token: 9e-6 },
    });
    const origin = { source: 'a test', nowMs };
    const written = writeListDocument(rows, origin);
    expect(writeListDocument(rows.toReversed(), origin)).toEqual(written);
    const opened = openModelList(JSON.parse(written.document) as ListDocument);
    for (const row of rows) expect(opened.find(row.kind, row.name)).toEqual(row);
  });
});
