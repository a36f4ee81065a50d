import { describe, expect, it } from '#jest';
import type { SupportedParams } from '../../../shared/configuration/catalogue/index.ts';
import type { GatewayError } from '../../../shared/errors/index.ts';
import { makePlan, type Plan } from '../../../shared/routing/planner/index.ts';
import {
  ableTo,
  catalogueOf,
  entryOf,
  factsOf,
  modelOf,
  planFactsOf,
  planned,
  priced,
  providerOf,
  requestOf,
} from '../../support/planning.ts';

/** The catalogue's order is dear, cheap, middling; `idle` is a provider without models. */
const defaultInput = planFactsOf(
  [entryOf('dear', priced('9')), entryOf('cheap', priced('1')), entryOf('middling', priced('5'))],
  [providerOf('idle')],
);
const choosing = (provider: Record<string, unknown>, input = defaultInput) => planned({ provider }, input);

it('an unknown provider is repeated shortened, so that an answer never grows with the request', () => {
  const error = makePlan(requestOf({ provider: { only: 'x'.repeat(100_000) } }), defaultInput);
  expect((error as GatewayError).message.length).toBeLessThan(200);
});

describe('a prompt that most likely exceeds a context', () => {
  const defaultInput = planFactsOf([
    entryOf('small', { ...priced('1'), context_length: 10 }),
    entryOf('large', { ...priced('5'), context_length: 10_000 }),
  ]);

  it('is measured in bytes of UTF-8, as tokenizers read', () => {
    expect(planned({ messages: [{ role: 'user', content: '界'.repeat(20) }] }, defaultInput)).toEqual([
      'large',
      'small',
    ]);
    expect(planned({ messages: [{ role: 'user', content: 'x'.repeat(50) }] }, defaultInput)).toEqual([
      'small',
      'large',
    ]);
  });

  it('is measured by its text alone: the bytes of images and sounds say nothing', () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(1_000)}` } };
    expect(planned({ messages: [{ role: 'user', content: [image] }] }, defaultInput)).toEqual(['small', 'large']);
  });
});

const capped = (max_price: unknown, ...entries: readonly ReturnType<typeof entryOf>[]) =>
  planned({ provider: { max_price } }, planFactsOf([...entries]));

describe('provider.max_price', () => {
  it('is exact to the last decimal of a price', () => {
    const entry = entryOf('p', priced('0.000002'));
    expect(capped('0.000002', entry)).toEqual(['p']);
    expect(capped(0.000002, entry)).toEqual(['p']);
    expect(capped('0.000001999999', entry)).toBe('price_cap_exceeded');
    expect(capped(0.1, entryOf('p', priced('0.1')))).toEqual(['p']);
    expect(capped(1e300, entry)).toEqual(['p']);
  });

  it('is exact to more decimals than any price has', () => {
    expect(choosing({ max_price: '0.0000000000001' })).toBe('price_cap_exceeded');
    const names = choosing({ max_price: '1000000.1234567890123' });
    expect(names).toEqual(choosing({}));
  });
});

describe('a price that is not known', () => {
  const free = { input_price_per_million: null, output_price_per_million: null, price_per_request: '9' };
  const facts = (entry: ReturnType<typeof entryOf>) => ({
    ...planFactsOf([entry]),
    byok: { sourceOf: () => 'connection' as const, isRequired: true },
  });
  it.each([
    [{ prompt: 9 }, 'price_cap_exceeded'],
    [{ completion: 9 }, 'price_cap_exceeded'],
    [{ request: 9 }, 'price_cap_exceeded'],
    [{ image: 9 }, 'price_cap_exceeded'],
    [{}, ['p']],
    [null, ['p']],
  ])('lies under no cap of it: %j', (max_price, expected) => {
    expect(planned({ provider: { max_price } }, facts(entryOf('p', free)))).toEqual(expected);
    expect(
      planned({ provider: { max_price: { request: 9 } } }, facts(entryOf('p', { ...free, ...priced('1') }))),
    ).toEqual(['p']);
  });
});

describe('which candidates may serve', () => {
  const without = (...params: readonly (keyof SupportedParams)[]) =>
    entryOf('p', { supported_params: { ...ableTo, ...Object.fromEntries(params.map((name) => [name, false])) } });

  const saying = (...parts: readonly Record<string, unknown>[]) => ({ messages: [{ role: 'user', content: parts }] });
  const image = { type: 'image_url', image_url: { url: 'https://images.example/cat.png' } };
  const sound = { type: 'input_audio', input_audio: { data: '', format: 'wav' } };
  const tool = { type: 'function', function: { name: 'f' } };

  const unableTo: readonly (readonly [string, Record<string, unknown>, ReturnType<typeof entryOf>])[] = [
    ['tools', { tools: [tool] }, without('tools')],
    ['functions, the former name of tools', { functions: [{ name: 'f' }] }, without('tools')],
    ['an image', saying(image), without('vision')],
    ['an image among texts', saying({ type: 'text', text: 'See:' }, image), without('vision')],
    ['an image in a tool result', { messages: [{ role: 'tool', content: [image] }] }, without('vision')],
    ['JSON mode', { response_format: { type: 'json_object' } }, without('json_mode')],
    ['a stream', { stream: true }, entryOf('p', { streaming: false })],
    ['audio in a message', saying(sound), entryOf('p')],
    ['audio among the modalities', { modalities: ['text', 'audio'] }, entryOf('p')],
    ['an audio member', { audio: { voice: 'v', format: 'wav' } }, entryOf('p')],
  ];

  const dearer: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['a dearer service tier', { service_tier: 'priority' }, 'service_tier'],
    ['a service tier of another type', { service_tier: 1 }, 'service_tier'],
    ['web search', { web_search_options: {} }, 'web_search'],
    ['plugins', { plugins: [{ id: 'web' }] }, 'plugins'],
    ['plugins of another type', { plugins: { id: 'web' } }, 'plugins'],
    ['more answers than are given', { best_of: 2 }, 'best_of'],
    ['more answers than n', { best_of: 4, n: 3 }, 'best_of'],
    ['a number of answers that is none', { best_of: '1' }, 'best_of'],
  ];

  const askingNothing: readonly (readonly [string, Record<string, unknown>])[] = [
    ['an empty list of tools', { tools: [] }],
    ['tools that are null', { tools: null, functions: null }],
    ['tool_choice and parallel_tool_calls alone', { tool_choice: 'none', parallel_tool_calls: false }],
    ['tool messages of an earlier turn', { messages: [{ role: 'tool', tool_call_id: 'c', content: 'x' }] }],
    ['modalities of text', { modalities: ['text'] }],
    ['modalities of another type', { modalities: 'audio' }],
    ['an audio member that is null', { audio: null }],
    ['a text response format', { response_format: { type: 'text' } }],
    ['a response format that is unknown', { response_format: { type: 'grammar' } }],
    ['a file part', saying({ type: 'file', file: { file_id: 'f' } })],
    ['the word image_url in a text', saying({ type: 'text', text: 'image_url input_audio' })],
    ['a message without content', { messages: [{ role: 'assistant', content: null }] }],
    ['parts that are no objects', { messages: [{ role: 'user', content: ['image_url', null, 1] }] }],
    ['a stream that is false', { stream: false }],
    ['the usual service tiers', { service_tier: 'auto' }],
    ['the default service tier', { service_tier: 'default' }],
    ['the cheaper service tier', { service_tier: 'flex' }],
    ['dearer members that are null', { service_tier: null, web_search_options: null, plugins: null, best_of: null }],
    ['an empty list of plugins', { plugins: [] }],
    ['as many answers as n', { best_of: 3, n: 3 }],
  ];

  describe('a requested feature', () => {
    it.each(unableTo)('needs a provider that has it: %s', (_, members, entry) => {
      expect(planned(members, planFactsOf([entry]))).toBe('feature_unsupported');
    });

    it.each(dearer)('that makes a call more expensive needs an entry that lists it: %s', (_, members, extra) => {
      const listing = (...extras: string[]) =>
        planFactsOf([entryOf('p', { supported_params: { ...ableTo, extras: extras as SupportedParams['extras'] } })]);
      const others = ['service_tier', 'web_search', 'plugins', 'best_of'].filter((name) => name !== extra);
      expect(planned(members, listing(extra))).toEqual(['p']);
      expect(planned(members, listing(...others))).toBe('feature_unsupported');
      const refusal = makePlan(requestOf(members), planFactsOf([entryOf('p')])) as GatewayError;
      expect(refusal).toMatchObject({ code: 'feature_unsupported', param: Object.keys(members)[0] });
      expect(refusal.message).toContain(Object.keys(members)[0]);
      expect(refusal.message).toContain(`supported_params.extras: [${extra}]`);
    });

    it.each(askingNothing)('is not read into %s', (_, members) => {
      const unable = without('tools', 'vision', 'json_mode', 'json_schema');
      expect(planned(members, planFactsOf([{ ...unable, streaming: false }]))).toEqual(['p']);
    });

    it('is named in the error if no candidate has it', () => {
      const error = makePlan(requestOf({ tools: [tool], stream: true }), planFactsOf([without('tools')]));
      expect((error as GatewayError).message).toMatch(
        /: tools\. .* the operator .* supported_params: \{ tools: true \}\.$/,
      );
      expect((error as GatewayError).param).toBe('tools');
    });
  });
});

describe('a draw', () => {
  const sessions = 1_000;
  /** Counts how often each candidate comes first, over many sessions. */
  const firsts = (input: ReturnType<typeof planFactsOf>, members: Record<string, unknown> = {}) => {
    const counts = new Map<string, number>();
    for (let session = 0; session < sessions; session += 1) {
      const plan = makePlan(requestOf(members), { ...input, session: () => `session-${session}` });
      if (!Array.isArray(plan)) throw new Error('no plan');
      const { id, credential } = (plan as Plan)[0].provider;
      const name = credential === undefined ? id : `${id}#${credential}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return (name: string) => (counts.get(name) ?? 0) / sessions;
  };
  const weighed = planFactsOf([
    entryOf('cheap', priced('1')),
    entryOf('few', { ...priced('9'), weight: 20 }),
    entryOf('most', { ...priced('5'), weight: 70 }),
    entryOf('least', { ...priced('2'), weight: 10 }),
  ]);

  it('spreads sessions over entries by weight, within a twentieth, whatever they cost', () => {
    const shareOf = firsts(weighed);
    for (const [name, weight] of [
      ['few', 0.2],
      ['most', 0.7],
      ['least', 0.1],
      ['cheap', 0],
    ] as const) {
      expect(Math.abs(shareOf(name) - weight)).toBeLessThan(0.05);
    }
    // After the drawn candidate come the other weighted candidates, then the rest by price.
    expect(planned({}, weighed).at(-1)).toBe('cheap');
  });

  it('is not made for a request with a sort or an order', () => {
    expect(firsts(weighed, { provider: { sort: 'price' } })('cheap')).toBe(1);
    expect(firsts(weighed, { provider: { order: ['few'] } })('few')).toBe(1);
  });

  it('gives each session the same whenever it comes, and moves only those of an entry that cools', () => {
    const firstOf = (session: number, input = weighed) =>
      planned({}, { ...input, session: () => `session-${session}` })[0];
    for (let session = 0; session < 100; session += 1) {
      const first = firstOf(session);
      const without = firstOf(session, { ...weighed, isCooling: ({ provider }) => provider.id === 'few' });
      if (first !== 'few') expect(without).toBe(first);
      else expect(without).not.toBe('few');
    }
  });

  it('spreads sessions evenly over the credentials of an entry, its own beside the other entries', () => {
    const credentials = ['A', 'B', 'C', 'D'].map((env) => ({ env }));
    const pooled = planFactsOf(
      [entryOf('pool', { weight: 1 }), entryOf('other', { weight: 1 })],
      [providerOf('pool', { auth: { bearer: { env: 'A' } }, credentials })],
    );
    const shareOf = firsts(pooled);
    for (const position of [2, 3, 4]) expect(Math.abs(shareOf(`pool#${position}`) - 1 / 8)).toBeLessThan(0.05);
    expect(Math.abs(shareOf('other') - 1 / 2)).toBeLessThan(0.05);
  });

  it('says nothing about models: auto takes the cheapest one', () => {
    const models = [
      modelOf('dear', { auto: true, providers: [entryOf('one', { ...priced('9'), weight: 1_000 })] }),
      modelOf('cheap', { auto: true, providers: [entryOf('two', priced('1'))] }),
    ];
    const input = factsOf(catalogueOf(models, [providerOf('one'), providerOf('two')]));
    expect(planned({ model: 'auto' }, input)).toEqual(['cheap@two', 'dear@one']);
  });
});
