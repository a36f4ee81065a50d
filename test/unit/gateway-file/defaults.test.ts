// The least that a file must say.
import { describe, expect, it } from '#jest';
import { fileOf, problemsOf } from './example-file.ts';

const smallest = `
providers:
  - { id: acme, base_url: "https://api.acme.example/v1" }
models:
  - id: acme/large-1
    providers:
      - { provider: acme, input_price_per_million: "1", output_price_per_million: "2", context_length: 8000 }
`;

describe('a minimal file', () => {
  it('needs a provider with its URL and a model with prices and one length', () => {
    const { providers, models, workspaces } = fileOf(smallest);
    expect(providers[0]).toMatchObject({ id: 'acme', display_name: 'acme', auth: 'none' });
    expect(models[0]).toEqual({
      id: 'acme/large-1',
      display_name: 'acme/large-1',
      context_length: 8_000,
      modalities: ['text'],
      auto: false,
      providers: [
        {
          provider: 'acme',
          upstream_model: 'large-1',
          input_price_per_million: '1',
          output_price_per_million: '2',
          context_length: 8_000,
          max_output_tokens: 8_000,
          supported_params: { tools: false, vision: false, json_mode: false, json_schema: false },
          streaming: true,
          rate_limit_rpm: null,
          rate_limit_tpm: null,
          rate_limit_tpd: null,
        },
      ],
    });
    expect(workspaces).toEqual([]);
  });

  it('may list what makes a call dearer, of a few names, and lists nothing otherwise', () => {
    const listing = (names: string) =>
      smallest.replace('context_length: 8000', `context_length: 8000, supported_params: { extras: [${names}] }`);
    const extras = ['service_tier', 'web_search', 'plugins', 'best_of'];
    expect(fileOf(listing(extras.join(', '))).models[0]?.providers[0]?.supported_params).toMatchObject({ extras });
    expect(problemsOf(listing('plugins, web'))).toMatchObject([
      { path: 'models[0].providers[0].supported_params.extras[1]', message: expect.stringContaining('web_search') },
    ]);
  });

  it('may say the length at the model instead, and needs it in one of both places', () => {
    const without = smallest.replace(', context_length: 8000', '');
    const atModel = without.replace('    providers:\n', '    context_length: 9000\n    providers:\n');
    expect(fileOf(atModel).models[0]).toMatchObject({
      context_length: 9_000,
      providers: [{ context_length: 9_000, max_output_tokens: 9_000 }],
    });
    expect(problemsOf(without)).toMatchObject([
      { path: 'models[0].context_length', message: 'is required, here or in an entry of providers' },
    ]);
  });

  it('of several entries has the longest length as that of the model, and its own length for each entry', () => {
    const second = `      - { provider: other, input_price_per_million: "1", output_price_per_million: "2", context_length: 16000,
          supported_params: { vision: true } }\n`;
    const text = `${smallest.replace('models:', '  - { id: other, base_url: "https://other.example/v1" }\nmodels:')}${second}`;
    const [model] = fileOf(text).models;
    expect(model).toMatchObject({
      context_length: 16_000,
      modalities: ['text', 'image'],
      providers: [
        { provider: 'acme', upstream_model: 'large-1', context_length: 8_000, max_output_tokens: 8_000 },
        // Another provider's model keeps its whole name.
        { provider: 'other', upstream_model: 'acme/large-1', context_length: 16_000, max_output_tokens: 16_000 },
      ],
    });
  });

  it('has no default for prices: half a price or none would be a gift', () => {
    expect(problemsOf(smallest.replace('input_price_per_million: "1", ', ''))).toMatchObject([
      { path: 'models[0].providers[0].input_price_per_million', message: 'is required' },
    ]);
  });
});
