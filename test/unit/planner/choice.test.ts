import { describe, expect, it } from '#jest';
import { GatewayError } from '../../../shared/errors/index.ts';
import { type CandidateStats, makePlan, type PlanInput } from '../../../shared/routing/planner/index.ts';
import {
  ableTo,
  catalogueOf,
  entryOf,
  factsOf,
  isOneOf,
  modelOf,
  planFactsOf,
  planned,
  priced,
  providerOf,
  requestOf,
} from '../../support/planning.ts';

describe('what can serve', () => {
  const defaultInput: PlanInput = {
    ...planFactsOf([entryOf('p')]),
    workspace: { models: ['m'], data_policy: { zdr: true } },
  };

  const lax = { ...defaultInput, workspace: { models: 'all', data_policy: {} } } as const;

  describe('a model', () => {
    it('that the workspace may not use is as unknown as one that does not exist, whatever else is asked', () => {
      const narrow = { ...defaultInput, workspace: { models: ['other'], data_policy: { zdr: true } } };
      expect(planned({ provider: { zdr: false } }, narrow)).toBe('unknown_model');
      expect(planned({ model: '__proto__' }, lax)).toBe('unknown_model');
      expect(planned({ model: 'M' }, lax)).toBe('unknown_model');
    });

    it('without any provider is known but not routable', () => {
      expect(planned({}, planFactsOf([]))).toBe('model_not_routable');
      expect(planned({ provider: { zdr: false } }, { ...planFactsOf([]), workspace: defaultInput.workspace })).toBe(
        'model_not_routable',
      );
    });
  });

  describe('a provider without a credential', () => {
    it('is left out where another has one', () => {
      const two = planFactsOf([entryOf('bare', priced('0')), entryOf('keyed')]);
      expect(planned({}, { ...two, isConfigured: ({ provider }) => provider.id === 'keyed' })).toEqual(['keyed']);
    });
  });
});

/** In catalogue order dear, cheap, middling; `idle` is known but serves nothing. */
const defaultInput = planFactsOf(
  [entryOf('dear', priced('9')), entryOf('cheap', priced('1')), entryOf('middling', priced('5'))],
  [providerOf('idle')],
);
const choosing = (provider: Record<string, unknown>, input = defaultInput) => planned({ provider }, input);

describe('provider.only', () => {
  it('refuses an id that no provider of the catalogue has, even beside good ones, and even for an unknown model', () => {
    expect(choosing({ only: 'nobody' })).toBe('invalid_request');
    expect(choosing({ only: ['cheap', 'nobody'] })).toBe('invalid_request');
    expect(planned({ model: 'unheard-of', provider: { only: 'nobody' } }, defaultInput)).toBe('invalid_request');
  });

  it('repeats an unknown id shortened, so that an answer never grows with the request', () => {
    const error = makePlan(requestOf({ provider: { only: 'x'.repeat(100_000) } }), defaultInput);
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).message.length).toBeLessThan(200);
  });
});

describe('provider.order', () => {
  it('shrugs at ids that serve nothing or do not exist, and takes the first of two mentions', () => {
    expect(choosing({ order: ['nobody', 'idle', 'middling'] })).toEqual(['middling', 'cheap', 'dear']);
    expect(choosing({ order: ['dear', 'cheap', 'dear'] })).toEqual(['dear', 'cheap', 'middling']);
  });
});

describe('provider.allow_fallbacks: false', () => {
  it('takes the first that can serve, not the first that cannot', () => {
    expect(choosing({ allow_fallbacks: false }, { ...defaultInput, isConfigured: isOneOf('dear') })).toEqual(['dear']);
    expect(choosing({ allow_fallbacks: false }, { ...defaultInput, isCooling: isOneOf('cheap') })).toEqual([
      'middling',
    ]);
  });

  it('never falls to a provider that was not named, whatever makes the named ones unable', () => {
    const named = { allow_fallbacks: false, order: ['dear'] };
    expect(choosing({ allow_fallbacks: false, order: ['idle', 'nobody'] })).toBe('model_not_routable');
    expect(choosing({ ...named, zdr: true })).toBe('no_policy_compliant_provider');
    expect(choosing({ ...named, max_price: 5 })).toBe('price_cap_exceeded');
    expect(choosing(named, { ...defaultInput, isConfigured: isOneOf('cheap') })).toBe('provider_not_configured');
    expect(choosing(named, { ...defaultInput, isCooling: isOneOf('dear') })).toEqual(['dear']);
  });
});

const sorted = (input: PlanInput, provider: Record<string, unknown> = {}) => planned({ provider }, input);

const statsFrom =
  (table: Record<string, CandidateStats>): PlanInput['statsOf'] =>
  ({ provider }) =>
    table[provider.id];

describe('the order of trying', () => {
  it('ends with the first candidate where the request refers to what one provider keeps', () => {
    const input = planFactsOf([entryOf('dear', priced('3', '6')), entryOf('cheap', priced('1', '2'))]);
    expect(makePlan(requestOf(), input)).toHaveLength(2);
    expect(makePlan({ ...requestOf(), keptIds: [] }, input)).toMatchObject([{ provider: { id: 'cheap' } }]);
  });

  const defaultInput = planFactsOf([
    entryOf('dear', priced('3', '6')),
    entryOf('cheap', priced('1', '2')),
    entryOf('also-cheap', priced('2', '1')),
    entryOf('free', priced('0')),
  ]);

  it('puts cooling providers last in their usual order, and never leaves them out', () => {
    const cooling = { ...defaultInput, isCooling: isOneOf('free', 'also-cheap') };
    expect(sorted(cooling)).toEqual(['cheap', 'dear', 'free', 'also-cheap']);
    expect(sorted({ ...defaultInput, isCooling: () => true })).toEqual(['free', 'cheap', 'also-cheap', 'dear']);
    expect(sorted(cooling, { only: 'free' })).toEqual(['free']);
  });

  it('puts cooling providers last under sort too', () => {
    const statsOf = statsFrom({ dear: speed(1, 99), cheap: speed(2, 9) });
    const cooling = { ...defaultInput, isCooling: isOneOf('free', 'dear'), statsOf };
    expect(sorted(cooling, { sort: 'price' })).toEqual(['cheap', 'also-cheap', 'free', 'dear']);
    expect(sorted(cooling, { sort: 'latency' })).toEqual(['cheap', 'also-cheap', 'dear', 'free']);
    expect(sorted(cooling, { sort: 'throughput' })).toEqual(['cheap', 'also-cheap', 'dear', 'free']);
  });

  it('is the one that the request names, cooling or not', () => {
    const input = { ...defaultInput, isCooling: isOneOf('dear'), statsOf: statsFrom({ dear: speed(1, 99) }) };
    expect(sorted(input, { order: ['dear', 'cheap'] })).toEqual(['dear', 'cheap', 'free', 'also-cheap']);
    expect(sorted(input, { order: ['dear'], sort: 'latency' })[0]).toBe('dear');
  });
});

const speed = (medianLatencyMs: number | undefined, throughputRpm: number): CandidateStats => ({
  medianLatencyMs,
  throughputRpm,
});

describe('provider.sort', () => {
  const defaultInput: PlanInput = {
    ...planFactsOf([
      entryOf('unmeasured', priced('1')),
      entryOf('slow', priced('2')),
      entryOf('fast', priced('9')),
      entryOf('failing', priced('3')),
      entryOf('twin', priced('4')),
    ]),
    statsOf: statsFrom({
      slow: speed(900, 5),
      fast: speed(100, 60),
      failing: speed(undefined, 0),
      twin: speed(900, 5),
    }),
  };

  it('by latency tries the shortest first; ties go to the cheaper, the unmeasured come last, the cheaper first', () => {
    expect(sorted(defaultInput, { sort: 'latency' })).toEqual(['fast', 'slow', 'twin', 'unmeasured', 'failing']);
  });

  it('by throughput tries the highest first; who had no success counts as unmeasured', () => {
    expect(sorted(defaultInput, { sort: 'throughput' })).toEqual(['fast', 'slow', 'twin', 'unmeasured', 'failing']);
  });

  it('without any measurement falls back to price', () => {
    const unmeasured = { ...defaultInput, statsOf: () => undefined };
    const byPrice = ['unmeasured', 'slow', 'failing', 'twin', 'fast'];
    expect(sorted(unmeasured, { sort: 'latency' })).toEqual(byPrice);
    expect(sorted(unmeasured, { sort: 'throughput' })).toEqual(byPrice);
  });

  it('ranks those whom order does not name', () => {
    expect(sorted(defaultInput, { sort: 'latency', order: ['twin'] })).toEqual([
      'twin',
      'fast',
      'slow',
      'unmeasured',
      'failing',
    ]);
  });

  it('decides who is alone without fallbacks', () => {
    expect(sorted(defaultInput, { sort: 'latency', allow_fallbacks: false })).toEqual(['fast']);
  });
});

describe('a prompt that most likely exceeds a context', () => {
  const defaultInput = planFactsOf([
    entryOf('small', { ...priced('1'), context_length: 10 }),
    entryOf('large', { ...priced('5'), context_length: 10_000 }),
  ]);
  const long = { messages: [{ role: 'user', content: 'x'.repeat(1_000) }] };
  const longParts = { messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(1_000) }] }] };

  it('is tried with the small context last, and never refused: only the tokenizer knows', () => {
    expect(planned(long, defaultInput)).toEqual(['large', 'small']);
    expect(planned(longParts, defaultInput)).toEqual(['large', 'small']);
    expect(planned({ ...long, provider: { only: 'small' } }, defaultInput)).toEqual(['small']);
    expect(planned({ ...long, provider: { max_price: 2 } }, defaultInput)).toEqual(['small']);
    expect(planned({ ...long, provider: { allow_fallbacks: false } }, defaultInput)).toEqual(['large']);
  });

  it('still goes before those who cool', () => {
    expect(planned(long, { ...defaultInput, isCooling: isOneOf('large') })).toEqual(['small', 'large']);
  });

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

describe('a choice of ours', () => {
  const providers = [providerOf('a', { data_policy: { zdr: true } }), providerOf('b')];

  /** `plain` is the cheapest of all, but not marked. */
  const models = [
    modelOf('plain', { providers: [entryOf('a', priced('0'))] }),
    modelOf('big', { auto: true, modalities: ['text', 'audio'], providers: [entryOf('a', priced('8'))] }),
    modelOf('small', {
      auto: true,
      providers: [
        entryOf('b', { ...priced('1'), supported_params: { ...ableTo, tools: false } }),
        entryOf('a', { ...priced('2'), supported_params: { ...ableTo, tools: false } }),
      ],
    }),
  ];
  const defaultInput = factsOf(catalogueOf(models, providers));
  const auto = (members: Record<string, unknown> = {}, input = defaultInput) =>
    planned({ model: 'auto', ...members }, input);

  describe('model: auto', () => {
    it('stands for every model where the whole catalogue marks none', () => {
      const unmarked = modelOf('unmarked', { providers: [entryOf('a', priced('3'))] });
      const other = modelOf('other', { providers: [entryOf('a', priced('2'))] });
      expect(auto({}, factsOf(catalogueOf([unmarked, other], [providerOf('a')])))).toEqual(['other@a', 'unmarked@a']);
    });

    it('is re-ranked by provider.sort', () => {
      const latencyOf: Record<string, number> = { big: 10, small: 99 };
      const statsOf: typeof defaultInput.statsOf = ({ model }) => ({
        medianLatencyMs: latencyOf[model.id],
        throughputRpm: 1,
      });
      expect(auto({ provider: { sort: 'latency' } }, { ...defaultInput, statsOf })).toEqual([
        'big@a',
        'small@b',
        'small@a',
      ]);
    });

    it('is chosen among the models of the workspace only, and need not be listed itself', () => {
      const limitedTo = (ids: string[]) => ({ ...defaultInput, workspace: { models: ids, data_policy: {} } });
      expect(auto({}, limitedTo(['big']))).toEqual(['big@a']);
      expect(auto({}, limitedTo(['plain']))).toBe('model_not_routable');
      expect(auto({}, limitedTo([]))).toBe('model_not_routable');
    });

    it('is always known: without any marked model it is not routable, never unknown', () => {
      expect(auto({}, factsOf(catalogueOf([], [])))).toBe('model_not_routable');
      expect(auto({}, factsOf(catalogueOf([modelOf('empty', { auto: true })], [])))).toBe('model_not_routable');
    });
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

describe('an entry without prices', () => {
  it.each([
    ['neither price', priced(null)],
    ['no input price', priced(null, '1')],
    ['no output price', priced('1', null)],
  ])('cannot be billed and is never planned for credit: %s', (_, prices) => {
    const defaultInput = planFactsOf([entryOf('unpriced', prices), entryOf('q', priced('9'))]);
    expect(planned({}, defaultInput)).toEqual(['q']);
    expect(planned({ provider: { only: 'unpriced' } }, defaultInput)).toBe('model_not_routable');
  });

  it('is another thing than a free one, which is served', () => {
    expect(planned({}, planFactsOf([entryOf('free', priced('0'))]))).toEqual(['free']);
  });
});
