import { describe, expect, it } from '#jest';
import type { DeclaredPolicy } from '../../../shared/configuration/catalogue/index.ts';
import type { PolicyOptions } from '../../../shared/protocol/wire/index.ts';
import { looseningMember, tighten } from '../../../shared/routing/planner/index.ts';
import { entryOf, planFactsOf, planned, providerOf } from '../../support/planning.ts';

/** Plans for one provider that declares this, in a workspace that enforces that. */
function served(declared: DeclaredPolicy, asked: Record<string, unknown>, enforced: PolicyOptions = {}) {
  const facts = planFactsOf([entryOf('p')], [providerOf('p', { data_policy: declared })]);
  return planned({ provider: asked }, { ...facts, workspace: { models: 'all', data_policy: enforced } });
}

const refused = 'no_policy_compliant_provider';
const forbidden = 'data_policy_loosening_forbidden';

describe('a data policy that a request asks for', () => {
  it('is satisfied only by a provider that declares it: unknown is a no', () => {
    expect(served({ zdr: true }, { zdr: true })).toEqual(['p']);
    expect(served({ zdr: false }, { zdr: true })).toBe(refused);
    expect(served({}, { zdr: true })).toBe(refused);
    expect(served({ data_collection: 'deny' }, { data_collection: 'deny' })).toEqual(['p']);
    expect(served({ data_collection: 'allow' }, { data_collection: 'deny' })).toBe(refused);
    expect(served({}, { data_collection: 'deny' })).toBe(refused);
    expect(served({}, { data_residency: 'eu' })).toBe(refused);
  });

  it('wants every region of the provider among the asked ones', () => {
    expect(served({ data_residency: ['eu'] }, { data_residency: 'eu' })).toEqual(['p']);
    expect(served({ data_residency: ['eu'] }, { data_residency: ['us', 'eu'] })).toEqual(['p']);
    expect(served({ data_residency: ['eu', 'us'] }, { data_residency: 'eu' })).toBe(refused);
    expect(served({ data_residency: [] }, { data_residency: 'eu' })).toBe(refused);
  });

  it('must be satisfied together with every other', () => {
    expect(served({ zdr: true }, { zdr: true, data_collection: 'deny' })).toBe(refused);
    expect(served({ zdr: true, data_collection: 'deny' }, { zdr: true, data_collection: 'deny' })).toEqual(['p']);
  });

  it('asks for nothing where it is the lax value, a null or absent', () => {
    for (const asked of [{}, { zdr: false }, { zdr: null }, { data_collection: 'allow' }, { data_residency: null }]) {
      expect(served({}, asked)).toEqual(['p']);
    }
  });
});

describe('storing an answer at the provider', () => {
  const servedStoring = (store: unknown, asked: Record<string, unknown>, enforced: PolicyOptions = {}) => {
    const facts = planFactsOf([entryOf('p')], [providerOf('p', { data_policy: { zdr: true } })]);
    const workspace = { models: 'all' as const, data_policy: enforced };
    return planned({ store, provider: asked }, { ...facts, workspace });
  };

  it('is refused under zdr, whether the workspace enforces it or the request asks for it', () => {
    for (const store of [true, 'true', 1]) {
      expect(servedStoring(store, {}, { zdr: true })).toBe(forbidden);
      expect(servedStoring(store, { zdr: true })).toBe(forbidden);
    }
  });

  it('is the business of the provider otherwise', () => {
    for (const store of [false, null]) expect(servedStoring(store, { zdr: true }, { zdr: true })).toEqual(['p']);
    expect(servedStoring(true, { data_collection: 'allow' })).toEqual(['p']);
  });
});

describe('a data policy that a workspace enforces', () => {
  it('binds requests that say nothing', () => {
    expect(served({}, {}, { zdr: true })).toBe(refused);
    expect(served({}, {}, { data_collection: 'deny' })).toBe(refused);
    expect(served({ data_residency: ['us'] }, {}, { data_residency: ['eu'] })).toBe(refused);
    expect(served({ zdr: true }, {}, { zdr: true })).toEqual(['p']);
  });

  it('binds beside what a request asks for on top', () => {
    expect(served({ data_collection: 'deny' }, { data_collection: 'deny' }, { zdr: true })).toBe(refused);
    expect(served({ zdr: true }, { data_collection: 'deny' }, { zdr: true })).toBe(refused);
  });

  it('is not loosened by a request, whether or not the provider would satisfy it', () => {
    const declared = { zdr: true, data_collection: 'deny', data_residency: ['eu'] } as const;
    for (const provider of [{ ...declared, data_residency: ['eu'] }, {}]) {
      expect(served(provider, { zdr: false }, { zdr: true })).toBe(forbidden);
      expect(served(provider, { data_collection: 'allow' }, { data_collection: 'deny' })).toBe(forbidden);
      expect(served(provider, { data_residency: 'us' }, { data_residency: ['eu'] })).toBe(forbidden);
      expect(served(provider, { data_residency: ['eu', 'us'] }, { data_residency: ['eu'] })).toBe(forbidden);
    }
  });

  it('may be tightened: fewer regions bind, the dropped ones serve no more', () => {
    const enforced = { data_residency: ['eu', 'ch'] };
    expect(served({ data_residency: ['ch'] }, {}, enforced)).toEqual(['p']);
    expect(served({ data_residency: ['ch'] }, { data_residency: 'eu' }, enforced)).toBe(refused);
    expect(served({ data_residency: ['eu'] }, { data_residency: 'eu' }, enforced)).toEqual(['p']);
  });

  it('that is lax itself forbids nothing', () => {
    expect(served({}, { zdr: false }, { zdr: false })).toEqual(['p']);
    expect(served({}, { data_collection: 'allow' }, { data_collection: 'allow' })).toEqual(['p']);
    expect(served({ zdr: true }, { zdr: true }, { zdr: false })).toEqual(['p']);
  });
});

describe('the effective policy', () => {
  it('is the stricter of both, member by member', () => {
    const enforced = { zdr: true, data_residency: ['eu', 'ch'] };
    const asked = { data_collection: 'deny', data_residency: ['eu'] } as const;
    expect(looseningMember(asked, enforced)).toBeUndefined();
    expect(tighten(asked, enforced)).toEqual({ zdr: true, data_collection: 'deny', data_residency: ['eu'] });
    expect(tighten({}, enforced)).toEqual({ zdr: true, data_collection: undefined, data_residency: ['eu', 'ch'] });
    expect(tighten({ data_collection: 'allow' }, { zdr: false })).toEqual({
      zdr: undefined,
      data_collection: 'allow',
      data_residency: undefined,
    });
  });
});
