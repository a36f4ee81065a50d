import { describe, expect, it } from '@jest/globals';
import type { PlanFacts } from '../../../shared/routing/planner/index.ts';
import { ableTo, entryOf, planned, priced, providerOf, worldOf } from './planning.ts';

/** One provider that is wrong in every way, in a workspace that enforces a policy. */
const entry = entryOf('p', { ...priced('9'), supported_params: { ...ableTo, tools: false, json_schema: false } });
const world: PlanFacts = {
  ...worldOf([entry], [providerOf('p'), providerOf('idle')]),
  workspace: { models: ['m'], data_policy: { zdr: true } },
  isConfigured: () => false,
};

const wishes = { only: ['nobody'], zdr: false, max_price: 1 };
const everything = {
  model: 'unheard-of',
  provider: wishes,
  tools: [{ type: 'function', function: { name: 'f' } }],
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
};
const known = { ...everything, model: 'm' };
const served = { ...known, provider: { ...wishes, only: ['p'] } };
const lawful = { ...known, provider: { max_price: 1 } };
const toolless = { ...lawful, tools: [] };
const schemaless = { ...toolless, response_format: null };
const lax = { ...world, workspace: { models: 'all', data_policy: {} } } as const;

describe('of several errors', () => {
  it.each([
    ['invalid_request', everything, world],
    ['unknown_model', { ...everything, provider: { ...wishes, only: ['idle'] } }, world],
    ['model_not_routable', { ...known, provider: { ...wishes, only: ['idle'] } }, world],
    ['data_policy_loosening_forbidden', served, world],
    ['no_policy_compliant_provider', lawful, world],
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
    const narrow = { ...world, workspace: { models: ['other'], data_policy: { zdr: true } } };
    expect(planned({ provider: { zdr: false } }, narrow)).toBe('unknown_model');
    expect(planned({ model: '__proto__' }, lax)).toBe('unknown_model');
    expect(planned({ model: 'M' }, lax)).toBe('unknown_model');
  });

  it('without any provider is known but not routable', () => {
    expect(planned({}, worldOf([]))).toBe('model_not_routable');
    expect(planned({ provider: { zdr: false } }, { ...worldOf([]), workspace: world.workspace })).toBe(
      'model_not_routable',
    );
  });
});

describe('a provider without a credential', () => {
  it('is left out where another has one', () => {
    const two = worldOf([entryOf('bare', priced('0')), entryOf('keyed')]);
    expect(planned({}, { ...two, isConfigured: ({ provider }) => provider.id === 'keyed' })).toEqual(['keyed']);
  });
});
