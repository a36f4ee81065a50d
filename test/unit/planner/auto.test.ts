import { describe, expect, it } from '#jest';
import { ableTo, catalogueOf, entryOf, factsOf, modelOf, planned, priced, providerOf } from '../../support/planning.ts';

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
const defaultFacts = factsOf(catalogueOf(models, providers));
const auto = (members: Record<string, unknown> = {}, facts = defaultFacts) =>
  planned({ model: 'auto', ...members }, facts);
const tools = [{ type: 'function', function: { name: 'f' } }];

describe('model: auto', () => {
  it('stands for every model where the whole catalogue marks none', () => {
    const unmarked = modelOf('unmarked', { providers: [entryOf('a', priced('3'))] });
    const other = modelOf('other', { providers: [entryOf('a', priced('2'))] });
    expect(auto({}, factsOf(catalogueOf([unmarked, other], [providerOf('a')])))).toEqual(['other@a', 'unmarked@a']);
  });

  it('is the cheapest model that is marked; each fallback is the cheapest that is left', () => {
    expect(auto()).toEqual(['small@b', 'small@a', 'big@a']);
  });

  it('never becomes a model that is not marked, not even for want of another', () => {
    expect(auto({ provider: { only: 'a', max_price: 1 } })).toBe('price_cap_exceeded');
  });

  it('is a dearer model where the cheaper ones cannot honour the request', () => {
    expect(auto({ tools })).toEqual(['big@a']);
    expect(auto({ modalities: ['audio'] })).toEqual(['big@a']);
    expect(auto({ provider: { zdr: true } })).toEqual(['small@a', 'big@a']);
  });

  it('is re-ranked by provider.sort', () => {
    const latencyOf: Record<string, number> = { big: 10, small: 99 };
    const statsOf: typeof defaultFacts.statsOf = ({ model }) => ({
      medianLatencyMs: latencyOf[model.id],
      throughputRpm: 1,
    });
    expect(auto({ provider: { sort: 'latency' } }, { ...defaultFacts, statsOf })).toEqual([
      'big@a',
      'small@b',
      'small@a',
    ]);
  });

  it('is chosen among the models of the workspace only, and need not be listed itself', () => {
    const limitedTo = (ids: string[]) => ({ ...defaultFacts, workspace: { models: ids, data_policy: {} } });
    expect(auto({}, limitedTo(['big']))).toEqual(['big@a']);
    expect(auto({}, limitedTo(['plain']))).toBe('model_not_routable');
    expect(auto({}, limitedTo([]))).toBe('model_not_routable');
  });

  it('is always known: without any marked model it is not routable, never unknown', () => {
    expect(auto({}, factsOf(catalogueOf([], [])))).toBe('model_not_routable');
    expect(auto({}, factsOf(catalogueOf([modelOf('empty', { auto: true })], [])))).toBe('model_not_routable');
  });

  it('says what is missing where no marked model can honour the request', () => {
    const unable = { ...ableTo, tools: false, json_schema: false };
    const weak = modelOf('weak', { auto: true, providers: [entryOf('a', { supported_params: unable })] });
    const facts = factsOf(catalogueOf([weak, ...models.slice(0, 1)], providers));
    const response_format = { type: 'json_schema', json_schema: { name: 'n', schema: {} } };
    expect(auto({ tools }, facts)).toBe('feature_unsupported');
    expect(auto({ response_format }, facts)).toBe('structured_output_unsupported');
    expect(auto({ provider: { ignore: ['a'] } }, facts)).toBe('model_not_routable');
  });
});
