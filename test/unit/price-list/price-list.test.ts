import { findProvider, type ModelInfo } from '@pydantic/genai-prices';
import { parse } from 'yaml';
import { describe, expect, it } from '#jest';
import { modelsSection } from '../../../infra/price-list/models-section.ts';
import { readPriceList } from '../../../infra/price-list/read-price-list.ts';
import { readGatewayFile } from '../../../shared/configuration/gateway-file/index.ts';

const nowMs = Date.parse('2026-11-22T12:00:00Z');
const flat = { input_mtok: 3, output_mtok: 15 };
const listed = (more: Partial<ModelInfo> = {}): ModelInfo => ({
  id: 'large',
  match: { equals: 'large' },
  context_window: 200_000,
  prices: flat,
  ...more,
});
const read = (more: Partial<ModelInfo> = {}) => readPriceList({ models: [listed(more)] }, nowMs);
const pricesOf = (more: Partial<ModelInfo>) => read(more).models[0]?.prices;
const checksOf = (more: Partial<ModelInfo>) => read(more).models[0]?.checks.join('\n');
const tiered = (base: number, start: number, price: number) => ({ base, tiers: [{ start, price }] });
const startingOn = (start_date: string, input_mtok: number) => ({
  constraint: { type: 'start_date' as const, start_date },
  prices: { ...flat, input_mtok },
});
const between = (start_time: string, end_time: string, input_mtok: number) => ({
  constraint: { type: 'time_of_date' as const, start_time, end_time },
  prices: { ...flat, input_mtok },
});

describe('a price of the list', () => {
  it('stands in the file under the name and in the form that the file has for it', () => {
    const cached = { cache_read_mtok: 0.3, cache_write_mtok: 3.75, cache_write_1h_mtok: 6 };
    expect(pricesOf({ prices: { ...flat, ...cached } })).toEqual({
      input_price_per_million: '3.00',
      output_price_per_million: '15.00',
      cached_input_price_per_million: '0.30',
      cache_write_input_price_per_million: '3.75',
      cache_write_1h_input_price_per_million: '6.00',
    });
  });

  it('keeps six decimals and is rounded up, never down, beyond them', () => {
    const input = (input_mtok: number) => pricesOf({ prices: { ...flat, input_mtok } })?.input_price_per_million;
    expect([0.1 + 0.2, 0.000001, 0.0000011, 0.075, 10].map(input)).toEqual([
      '0.30',
      '0.000001',
      '0.000002',
      '0.075',
      '10.00',
    ]);
  });

  it('that grows with the input is the dearest that the context lets a call reach, and is marked', () => {
    const within = { prices: { ...flat, input_mtok: tiered(3, 100_000, 6) } };
    expect(pricesOf(within)?.input_price_per_million).toBe('6.00');
    expect(checksOf(within)).toContain('the length of the input');
    const beyond = { prices: { ...flat, input_mtok: tiered(3, 200_000, 6) } };
    expect(pricesOf(beyond)?.input_price_per_million).toBe('3.00');
    expect(checksOf(beyond)).toBe('');
  });

  it('is the one in force today, and one that is announced is marked with its day', () => {
    const prices = [{ prices: flat }, startingOn('2027-01-01', 9), startingOn('2026-06-01', 2)];
    expect(pricesOf({ prices })?.input_price_per_million).toBe('2.00');
    expect(checksOf({ prices })).toBe('other prices are in force from 2027-01-01 on');
  });

  it('that changes with the time of day is the dearest one, and is marked', () => {
    const prices = [between('00:00:00Z', '08:00:00Z', 1), between('08:00:00Z', '00:00:00Z', 4)];
    expect(pricesOf({ prices })?.input_price_per_million).toBe('4.00');
    expect(checksOf({ prices })).toContain('the time of day');
  });

  it('that the gateway does not count is named', () => {
    expect(checksOf({ prices: { ...flat, web_searches_kcount: 10 } })).toContain('web_searches_kcount');
  });
});

it.each<[string, Partial<ModelInfo>, string]>([
  ['is retired', { deprecated: true }, 'retired'],
  ['is said to be retired', { description: 'Retired, here to match price sources' }, 'retired'],
  ['stands for several', { id: 'ft:gpt-4o*' }, 'a pattern, no model'],
  ['is priced by the hour', { prices: { audio_hours: 1 } }, 'not priced by the token'],
  ['has no price of its output', { prices: { input_mtok: 1 } }, 'not priced by the token'],
  ['has no context length', { context_window: undefined as never }, 'no context length'],
])('a model that %s is left out, with the reason', (_title, more, reason) => {
  expect(read(more)).toEqual({ models: [], leftOut: [{ id: more.id ?? 'large', reason }] });
});

it('a model of embeddings has output that costs nothing', () => {
  const embedding = { id: 'text-embedding-4', prices: { input_mtok: 0.02 } };
  expect(pricesOf(embedding)).toEqual({ input_price_per_million: '0.02', output_price_per_million: '0.00' });
});

describe('the section', () => {
  const section = (...args: string[]) => modelsSection(args, 'the list 1.2.3', nowMs);

  it.each(['anthropic', 'aws', 'google', 'openai', 'groq', 'mistral', 'deepseek', 'openrouter'])(
    'of %s is what a gateway file takes, with every model of the list or the reason why not',
    (name) => {
      const text = section(name, '--as', 'own', '--region', 'eu');
      const provider = `providers: [{ id: own, base_url: "https://own.example/v1" }]\nworkspaces: []\n`;
      const result = readGatewayFile(provider + text);
      if (!result.ok) throw new Error(JSON.stringify(result.problems.slice(0, 3)));
      const entries = result.file.models.flatMap(({ providers }) => providers);
      const leftOut = [...text.matchAll(/^# left out \([^)]*\): (.*)$/gm)].flatMap(([, ids = '']) => ids.split(', '));
      const all = findProvider({ providerId: name })?.models ?? [];
      expect(entries.length).toBeGreaterThan(0);
      expect(entries.length + leftOut.length).toBe(all.length);
      for (const entry of entries) expect(Number(entry.input_price_per_million)).toBeGreaterThanOrEqual(0);
    },
  );

  it('marks what the list does not say, and says where its prices come from', () => {
    const text = section('anthropic', '--only', 'haiku-4');
    expect(text.split('\n')[0]).toBe(
      '# Anthropic, by the list 1.2.3. Compare with https://www.anthropic.com/pricing#api',
    );
    expect(text).toMatch(/max_output_tokens: 200000 # check: /);
    expect(text).toMatch(/supported_params: \{ tools: false, .*\} # check: /);
    expect(parse(text)).toMatchObject({
      models: [
        {
          id: 'anthropic/claude-haiku-4-5',
          providers: [{ provider: 'anthropic', upstream_model: 'claude-haiku-4-5' }],
        },
      ],
    });
  });

  it('names the inference profiles of a region of Bedrock, or says that they are to be named', () => {
    const upstream = 'anthropic.claude-sonnet-5-v1:0';
    expect(section('aws', '--only', 'claude-sonnet-5', '--region', 'eu')).toContain(`upstream_model: eu.${upstream}`);
    const open = section('aws', '--only', 'claude-sonnet-5');
    expect(open).toContain(`upstream_model: regional.${upstream}`);
    expect(open).toContain('check: upstream_model: write the prefix of your region');
  });

  it.each([
    [[], 'say one provider'],
    [['anthropic', 'aws'], 'say one provider'],
    [['no-such-provider'], 'has no provider "no-such-provider"'],
    [['anthropic', '--only', 'gpt'], 'no model of anthropic'],
    [['anthropic', '--as', 'A b'], '--as is the id'],
    [['aws', '--region', 'EU!'], '--region is a prefix'],
  ])('is refused for %j: %s', (args, message) => {
    expect(() => section(...args)).toThrow(message);
  });
});
