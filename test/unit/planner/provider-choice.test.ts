import { describe, expect, it } from '#jest';
import { GatewayError } from '../../../shared/errors/index.ts';
import { makePlan } from '../../../shared/routing/planner/index.ts';
import { entryOf, isOneOf, planFactsOf, planned, priced, providerOf, requestOf } from '../../support/planning.ts';

/** In catalogue order dear, cheap, middling; `idle` is known but serves nothing. */
const defaultFacts = planFactsOf(
  [entryOf('dear', priced('9')), entryOf('cheap', priced('1')), entryOf('middling', priced('5'))],
  [providerOf('idle')],
);
const choosing = (provider: Record<string, unknown>, facts = defaultFacts) => planned({ provider }, facts);

describe('provider.only', () => {
  it('lets no other provider serve, however cheap', () => {
    expect(choosing({ only: 'dear' })).toEqual(['dear']);
    expect(choosing({ only: ['dear', 'middling'] })).toEqual(['middling', 'dear']);
  });

  it('is no order and no duplicate: a provider named twice is tried once, at its place', () => {
    expect(choosing({ only: ['dear', 'cheap', 'dear'] })).toEqual(['cheap', 'dear']);
  });

  it('refuses an id that no provider of the catalogue has, even beside good ones, and even for an unknown model', () => {
    expect(choosing({ only: 'nobody' })).toBe('invalid_request');
    expect(choosing({ only: ['cheap', 'nobody'] })).toBe('invalid_request');
    expect(planned({ model: 'unheard-of', provider: { only: 'nobody' } }, defaultFacts)).toBe('invalid_request');
  });

  it('repeats an unknown id shortened, so that an answer never grows with the request', () => {
    const error = makePlan(requestOf({ provider: { only: 'x'.repeat(100_000) } }), defaultFacts);
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).message.length).toBeLessThan(200);
  });

  it('finds the model not routable where the provider is known but does not serve it', () => {
    expect(choosing({ only: 'idle' })).toBe('model_not_routable');
    expect(choosing({ only: ['idle', 'dear'] })).toEqual(['dear']);
  });
});

describe('provider.ignore', () => {
  it('leaves out those that are named, and shrugs at ids it does not know', () => {
    expect(choosing({ ignore: ['cheap', 'nobody'] })).toEqual(['middling', 'dear']);
    expect(choosing({ ignore: [] })).toEqual(['cheap', 'middling', 'dear']);
  });

  it('of all providers leaves a model that is not routable', () => {
    expect(choosing({ ignore: ['dear', 'cheap', 'middling'] })).toBe('model_not_routable');
  });

  it('wins over only and over order', () => {
    expect(choosing({ only: 'cheap', ignore: ['cheap'] })).toBe('model_not_routable');
    expect(choosing({ order: ['cheap', 'dear'], ignore: ['cheap'] })).toEqual(['dear', 'middling']);
  });
});

describe('provider.order', () => {
  it('puts the named first as they are named, the others behind them as usual', () => {
    expect(choosing({ order: ['dear', 'middling'] })).toEqual(['dear', 'middling', 'cheap']);
    expect(choosing({ order: ['dear'] })).toEqual(['dear', 'cheap', 'middling']);
  });

  it('shrugs at ids that serve nothing or do not exist, and takes the first of two mentions', () => {
    expect(choosing({ order: ['nobody', 'idle', 'middling'] })).toEqual(['middling', 'cheap', 'dear']);
    expect(choosing({ order: ['dear', 'cheap', 'dear'] })).toEqual(['dear', 'cheap', 'middling']);
  });

  it('opens no door that only has closed', () => {
    expect(choosing({ only: ['cheap', 'dear'], order: ['middling', 'dear'] })).toEqual(['dear', 'cheap']);
  });
});

describe('provider.max_price', () => {
  it('is exact to more decimals than any price has', () => {
    expect(choosing({ max_price: '0.0000000000001' })).toBe('price_cap_exceeded');
    const names = choosing({ max_price: '1000000.1234567890123' });
    expect(names).toEqual(choosing({}));
  });
});

describe('provider.allow_fallbacks: false', () => {
  it('leaves the first candidate alone', () => {
    expect(choosing({ allow_fallbacks: false })).toEqual(['cheap']);
    expect(choosing({ allow_fallbacks: false, only: ['dear', 'middling'] })).toEqual(['middling']);
    expect(choosing({ allow_fallbacks: false, order: [] })).toEqual(['cheap']);
  });

  it('takes the first that can serve, not the first that cannot', () => {
    expect(choosing({ allow_fallbacks: false }, { ...defaultFacts, isConfigured: isOneOf('dear') })).toEqual(['dear']);
    expect(choosing({ allow_fallbacks: false }, { ...defaultFacts, isCooling: isOneOf('cheap') })).toEqual([
      'middling',
    ]);
  });

  it('beside order tries all that are named, and none that is not', () => {
    expect(choosing({ allow_fallbacks: false, order: ['dear', 'idle', 'cheap'] })).toEqual(['dear', 'cheap']);
  });

  it('never falls to a provider that was not named, whatever makes the named ones unable', () => {
    const named = { allow_fallbacks: false, order: ['dear'] };
    expect(choosing({ allow_fallbacks: false, order: ['idle', 'nobody'] })).toBe('model_not_routable');
    expect(choosing({ ...named, zdr: true })).toBe('no_policy_compliant_provider');
    expect(choosing({ ...named, max_price: 5 })).toBe('price_cap_exceeded');
    expect(choosing(named, { ...defaultFacts, isConfigured: isOneOf('cheap') })).toBe('provider_not_configured');
    expect(choosing(named, { ...defaultFacts, isCooling: isOneOf('dear') })).toEqual(['dear']);
  });
});
