import { describe, expect, it } from '#jest';
import {
  type ByokConnection,
  checkByokHeader,
  type PlanFacts,
  readByokFacts,
} from '../../../shared/routing/planner/index.ts';
import {
  ableTo,
  entryOf,
  isOneOf,
  planFactsOf,
  planned,
  priced,
  providerOf,
  requestOf,
} from '../../support/planning.ts';

const connection = (provider: string, more: Partial<ByokConnection> = {}): ByokConnection => ({
  provider,
  policy: 'allowed',
  isAuthorised: true,
  ...more,
});

const defaultFacts = planFactsOf(
  [
    entryOf('unpriced', priced(null)),
    entryOf('dear', { ...priced('9'), supported_params: { ...ableTo, tools: false } }),
    entryOf('cheap', priced('1')),
  ],
  [providerOf('idle'), providerOf('deaf', { accepts_byok_header: false })],
);
const withConnections = (facts: PlanFacts, ...connections: readonly ByokConnection[]): PlanFacts => ({
  ...facts,
  byok: readByokFacts({ hasHeaderKey: false, connections }),
});
const tools = [{ type: 'function', function: { name: 'f' } }];

describe('a key header', () => {
  const facts = {
    catalogue: defaultFacts.catalogue,
    workspace: defaultFacts.workspace,
    isEnabled: true,
    connections: [],
  };
  const check = (members: Record<string, unknown>, more: Partial<Parameters<typeof checkByokHeader>[1]> = {}) =>
    checkByokHeader(requestOf(members), { ...facts, ...more })?.code;
  const pinned = (only: unknown) => ({ provider: { only } });

  it('is fine with exactly one provider that serves the model, as a string, a list, or named twice', () => {
    for (const only of ['cheap', ['cheap'], ['cheap', 'cheap'], 'unpriced']) {
      expect(check(pinned(only))).toBeUndefined();
    }
  });

  it.each([
    ['no only', {}],
    ['two providers', pinned(['cheap', 'dear'])],
    ['an unknown provider', pinned('nobody')],
    ['a known one beside an unknown one', pinned(['cheap', 'nobody'])],
    ['a provider that does not serve the model', pinned('idle')],
    ['order in place of only', { provider: { order: ['cheap'], allow_fallbacks: false } }],
    ['no only, for an unknown model', { model: 'unheard-of' }],
  ])('needs provider.only to name exactly one that serves the model: %s', (_, members) => {
    expect(check(members)).toBe('byok_provider_required');
  });

  it('is refused where the provider takes none', () => {
    const deaf = planFactsOf([entryOf('deaf')], [providerOf('deaf', { accepts_byok_header: false })]);
    expect(check(pinned('deaf'), { catalogue: deaf.catalogue })).toBe('byok_credential_unsupported');
  });

  it('says nothing of an unknown model or one the workspace may not use: that error comes later', () => {
    expect(check({ model: 'unheard-of', ...pinned('cheap') })).toBeUndefined();
    expect(check(pinned('idle'), { workspace: { models: [] } })).toBeUndefined();
  });

  it('is refused first of all where BYOK is not enabled, then beside a connection that is always used', () => {
    const connections = [connection('dear', { policy: 'always', isAuthorised: false })];
    expect(check({}, { isEnabled: false, connections })).toBe('byok_not_enabled');
    expect(check({}, { connections })).toBe('byok_credential_conflict');
    expect(check(pinned('cheap'), { connections })).toBe('byok_credential_conflict');
    expect(check(pinned('cheap'), { connections: [connection('cheap')] })).toBeUndefined();
  });

  it('makes an entry without prices and without our credential routable, and wins over a stored connection', () => {
    const byok = readByokFacts({ hasHeaderKey: true, connections: [connection('unpriced')] });
    const keyed = { ...defaultFacts, isConfigured: () => false, byok };
    expect(planned(pinned('unpriced'), keyed)).toEqual(['unpriced']);
    const [candidate] = defaultFacts.catalogue.models.get('m')?.candidates ?? [];
    expect(candidate && byok.sourceOf(candidate)).toBe('header');
  });

  it('relieves no call of policies, features and caps', () => {
    const keyed = { ...defaultFacts, byok: readByokFacts({ hasHeaderKey: true, connections: [] }) };
    const asking = (only: string, more: Record<string, unknown>) => planned({ provider: { only, ...more } }, keyed);
    expect(asking('cheap', { zdr: true })).toBe('no_policy_compliant_provider');
    expect(planned({ ...pinned('dear'), tools }, keyed)).toBe('feature_unsupported');
    expect(asking('dear', { max_price: 1 })).toBe('price_cap_exceeded');
    expect(asking('cheap', { ignore: ['cheap'] })).toBe('model_not_routable');
  });

  it('keeps an unknown price out of every cap', () => {
    const keyed = { ...defaultFacts, byok: readByokFacts({ hasHeaderKey: true, connections: [] }) };
    expect(planned({ provider: { only: 'unpriced', max_price: 1_000 } }, keyed)).toBe('price_cap_exceeded');
  });
});

describe('stored connections that are allowed', () => {
  it('change no other provider: others are called with our credential, and an unknown price is no low price', () => {
    expect(planned({}, withConnections(defaultFacts, connection('unpriced')))).toEqual(['cheap', 'dear', 'unpriced']);
  });

  it('serve where we hold no credential, and only there', () => {
    const bare = { ...defaultFacts, isConfigured: () => false };
    expect(planned({}, withConnections(bare, connection('dear')))).toEqual(['dear']);
    expect(planned({}, withConnections(bare, connection('idle')))).toBe('provider_not_configured');
  });

  it('serve no call without a readable key', () => {
    const facts = withConnections(
      { ...defaultFacts, isConfigured: isOneOf('cheap') },
      connection('unpriced', { isAuthorised: false }),
    );
    expect(planned({}, facts)).toEqual(['cheap']);
  });
});

describe('a stored connection that is always used', () => {
  const always = (provider: string, more: Partial<ByokConnection> = {}) =>
    connection(provider, { policy: 'always', ...more });
  const none = 'byok_no_eligible_connection';

  it('leaves the connected providers only, those of allowed connections among them', () => {
    expect(planned({}, withConnections(defaultFacts, always('dear')))).toEqual(['dear']);
    expect(planned({}, withConnections(defaultFacts, always('dear'), connection('cheap')))).toEqual(['cheap', 'dear']);
    expect(planned({}, withConnections(defaultFacts, always('unpriced')))).toEqual(['unpriced']);
  });

  it('refuses a request that no connection can serve: another provider, model or feature', () => {
    expect(planned({}, withConnections(defaultFacts, always('idle')))).toBe(none);
    expect(planned({ provider: { only: 'cheap' } }, withConnections(defaultFacts, always('dear')))).toBe(none);
    expect(planned({ tools }, withConnections(defaultFacts, always('dear')))).toBe(none);
    expect(planned({ provider: { only: 'unpriced' } }, withConnections(defaultFacts, always('dear')))).toBe(none);
  });

  it('binds where its key cannot be read: our credential is no substitute', () => {
    expect(planned({}, withConnections(defaultFacts, always('cheap', { isAuthorised: false })))).toBe(none);
  });

  it('leaves an error that has nothing to do with connections as it is', () => {
    const facts = withConnections(defaultFacts, always('dear'));
    expect(planned({ model: 'unheard-of' }, facts)).toBe('unknown_model');
    expect(planned({ provider: { ignore: ['unpriced', 'dear', 'cheap'] } }, facts)).toBe('model_not_routable');
    expect(planned({ provider: { zdr: true } }, facts)).toBe('no_policy_compliant_provider');
    expect(planned({ provider: { max_price: 2 } }, facts)).toBe('price_cap_exceeded');
  });
});
