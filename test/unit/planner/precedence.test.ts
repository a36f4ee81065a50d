import { describe, expect, it } from '#jest';
import type { PlanFacts } from '../../../shared/routing/planner/index.ts';
import { ableTo, entryOf, planFactsOf, planned, priced, providerOf } from '../../support/planning.ts';

/** One provider that is wrong in every way, in a workspace that enforces a policy. */
const entry = entryOf('p', { ...priced('9'), supported_params: { ...ableTo, tools: false, json_schema: false } });
const defaultFacts: PlanFacts = {
  ...planFactsOf([entry], [providerOf('p'), providerOf('idle')]),
  workspace: { models: ['m'], data_policy: { zdr: true } },
  isConfigured: () => false,
};

const preferences = { only: ['nobody'], zdr: false, max_price: 1 };
const everything = {
  model: 'unheard-of',
  provider: preferences,
  tools: [{ type: 'function', function: { name: 'f' } }],
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
};
const known = { ...everything, model: 'm' };
const served = { ...known, provider: { ...preferences, only: ['p'] } };
const lawful = { ...known, provider: { max_price: 1 } };
const toolless = { ...lawful, tools: [] };
const schemaless = { ...toolless, response_format: null };
const lax = { ...defaultFacts, workspace: { models: 'all', data_policy: {} } } as const;

describe('of several errors', () => {
  it.each([
    ['invalid_request', everything, defaultFacts],
    ['unknown_model', { ...everything, provider: { ...preferences, only: ['idle'] } }, defaultFacts],
    ['model_not_routable', { ...known, provider: { ...preferences, only: ['idle'] } }, defaultFacts],
    ['data_policy_loosening_forbidden', served, defaultFacts],
    ['no_policy_compliant_provider', lawful, defaultFacts],
    ['feature_unsupported', lawful, lax],
    ['structured_output_unsupported', toolless, lax],
    ['price_cap_exceeded', schemaless, lax],
    ['provider_not_configured', { ...schemaless, provider: {} }, lax],
  ] satisfies [string, Record<string, unknown>, PlanFacts][])(
    '%s comes before all below it',
    (code, members, facts) => {
      expect(planned(members, facts)).toBe(code);
    },
  );

  it('none is left where everything is mended', () => {
    expect(planned({}, { ...lax, isConfigured: () => true })).toEqual(['p']);
  });
});

describe('a model', () => {
  it('that the workspace may not use is as unknown as one that does not exist, whatever else is asked', () => {
    const narrow = { ...defaultFacts, workspace: { models: ['other'], data_policy: { zdr: true } } };
    expect(planned({ provider: { zdr: false } }, narrow)).toBe('unknown_model');
    expect(planned({ model: '__proto__' }, lax)).toBe('unknown_model');
    expect(planned({ model: 'M' }, lax)).toBe('unknown_model');
  });

  it('without any provider is known but not routable', () => {
    expect(planned({}, planFactsOf([]))).toBe('model_not_routable');
    expect(planned({ provider: { zdr: false } }, { ...planFactsOf([]), workspace: defaultFacts.workspace })).toBe(
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
