import { describe, expect, it } from '#jest';
import type { DeclaredPolicy, SupportedParams } from '../../../shared/configuration/catalogue/index.ts';
import type { GatewayError } from '../../../shared/errors/index.ts';
import type { PolicyOptions } from '../../../shared/protocol/wire/index.ts';
import {
  type ByokConnection,
  checkByokHeader,
  looseningMember,
  makePlan,
  type PlanInput,
  readByokSources,
  tighten,
} from '../../../shared/routing/planner/index.ts';
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

const without = (...params: readonly (keyof SupportedParams)[]) =>
  entryOf('p', { supported_params: { ...ableTo, ...Object.fromEntries(params.map((name) => [name, false])) } });

const saying = (...parts: readonly Record<string, unknown>[]) => ({ messages: [{ role: 'user', content: parts }] });
const image = { type: 'image_url', image_url: { url: 'https://images.example/cat.png' } };
const sound = { type: 'input_audio', input_audio: { data: '', format: 'wav' } };
const tool = { type: 'function', function: { name: 'f' } };
const schema = { type: 'json_schema', json_schema: { name: 'n', schema: {} } };

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

/** Of a token count that is not that of its text alone. */
const hasMedia = (request: ReturnType<typeof requestOf>) => request.size().mediaTokens !== 0;

describe('a requested feature', () => {
  it.each(unableTo)('needs a provider that has it: %s', (_, members, entry) => {
    expect(planned(members, planFactsOf([entry]))).toBe('feature_unsupported');
  });

  it.each(dearer)('that makes a call dearer needs an entry that lists it: %s', (_, members, extra) => {
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

  it('of audio is served by a model that names audio among its modalities', () => {
    const model = modelOf('m', { modalities: ['text', 'audio'], providers: [entryOf('p')] });
    expect(planned(saying(sound), factsOf(catalogueOf([model], [providerOf('p')])))).toEqual(['p']);
  });

  it('must be had together with every other: half here and half there is not enough', () => {
    const toolsOnly = entryOf('a', { supported_params: { ...ableTo, vision: false } });
    const visionOnly = entryOf('b', { supported_params: { ...ableTo, tools: false } });
    const defaultInput = planFactsOf([toolsOnly, visionOnly]);
    expect(planned({ tools: [tool], ...saying(image) }, defaultInput)).toBe('feature_unsupported');
  });

  it('is named in the error where no candidate has it', () => {
    const error = makePlan(requestOf({ tools: [tool], stream: true }), planFactsOf([without('tools')]));
    expect((error as GatewayError).message).toMatch(
      /: tools\. .* the operator .* supported_params: \{ tools: true \}\.$/,
    );
    expect((error as GatewayError).param).toBe('tools');
  });
});

describe('a json_schema response format', () => {
  it('is another thing than JSON mode: neither stands for the other', () => {
    expect(planned({ response_format: schema }, planFactsOf([without('json_mode')]))).toEqual(['p']);
    expect(planned({ response_format: { type: 'json_object' } }, planFactsOf([without('json_schema')]))).toEqual(['p']);
  });

  it('is asked after the features, and only of those who have them', () => {
    const schemaOnly = entryOf('a', { supported_params: { ...ableTo, tools: false } });
    const toolsOnly = entryOf('b', { supported_params: { ...ableTo, json_schema: false } });
    const members = { tools: [tool], response_format: schema };
    expect(planned(members, planFactsOf([schemaOnly]))).toBe('feature_unsupported');
    expect(planned(members, planFactsOf([toolsOnly]))).toBe('structured_output_unsupported');
    expect(planned(members, planFactsOf([schemaOnly, toolsOnly]))).toBe('structured_output_unsupported');
  });
});

describe('media', () => {
  it('are all parts that are no text: images, sounds, files, and unknown kinds', () => {
    for (const part of [image, sound, { type: 'file', file: {} }, { type: 'hologram' }, {}]) {
      expect(hasMedia(requestOf(saying({ type: 'text', text: 'See:' }, part)))).toBe(true);
    }
  });

  it('are not texts and refusals, however they are written', () => {
    const texts = [
      { type: 'text', text: 'image_url' },
      { type: 'refusal', refusal: 'No.' },
    ];
    expect(hasMedia(requestOf(saying(...texts)))).toBe(false);
    expect(hasMedia(requestOf())).toBe(false);
  });
});

/** Plans for one provider that declares this, in a workspace that enforces that. */
function served(declared: DeclaredPolicy, asked: Record<string, unknown>, enforced: PolicyOptions = {}) {
  const input = planFactsOf([entryOf('p')], [providerOf('p', { data_policy: declared })]);
  return planned({ provider: asked }, { ...input, workspace: { models: 'all', data_policy: enforced } });
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

  it('asks for nothing where it is the lax value, a null or absent', () => {
    for (const asked of [{}, { zdr: false }, { zdr: null }, { data_collection: 'allow' }, { data_residency: null }]) {
      expect(served({}, asked)).toEqual(['p']);
    }
  });
});

describe('storing an answer at the provider', () => {
  const servedStoring = (store: unknown, asked: Record<string, unknown>, enforced: PolicyOptions = {}) => {
    const input = planFactsOf([entryOf('p')], [providerOf('p', { data_policy: { zdr: true } })]);
    const workspace = { models: 'all' as const, data_policy: enforced };
    return planned({ store, provider: asked }, { ...input, workspace });
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

const connection = (provider: string, more: Partial<ByokConnection> = {}): ByokConnection => ({
  provider,
  policy: 'allowed',
  isAuthorised: true,
  ...more,
});

const defaultInput = planFactsOf(
  [
    entryOf('unpriced', priced(null)),
    entryOf('dear', { ...priced('9'), supported_params: { ...ableTo, tools: false } }),
    entryOf('cheap', priced('1')),
  ],
  [providerOf('idle'), providerOf('deaf', { accepts_byok_header: false })],
);
const withConnections = (input: PlanInput, ...connections: readonly ByokConnection[]): PlanInput => ({
  ...input,
  byok: readByokSources({ hasHeaderKey: false, connections }),
});
const tools = [{ type: 'function', function: { name: 'f' } }];

describe('a key header', () => {
  const input = {
    catalogue: defaultInput.catalogue,
    workspace: defaultInput.workspace,
    isEnabled: true,
    connections: [],
  };
  const check = (members: Record<string, unknown>, more: Partial<Parameters<typeof checkByokHeader>[1]> = {}) =>
    checkByokHeader(requestOf(members), { ...input, ...more })?.code;
  const pinned = (only: unknown) => ({ provider: { only } });

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
    const byok = readByokSources({ hasHeaderKey: true, connections: [connection('unpriced')] });
    const keyed = { ...defaultInput, isConfigured: () => false, byok };
    expect(planned(pinned('unpriced'), keyed)).toEqual(['unpriced']);
    const [candidate] = defaultInput.catalogue.models.get('m')?.candidates ?? [];
    expect(candidate && byok.sourceOf(candidate)).toBe('header');
  });

  it('relieves no call of policies, features and caps', () => {
    const keyed = { ...defaultInput, byok: readByokSources({ hasHeaderKey: true, connections: [] }) };
    const asking = (only: string, more: Record<string, unknown>) => planned({ provider: { only, ...more } }, keyed);
    expect(asking('cheap', { zdr: true })).toBe('no_policy_compliant_provider');
    expect(planned({ ...pinned('dear'), tools }, keyed)).toBe('feature_unsupported');
    expect(asking('dear', { max_price: 1 })).toBe('price_cap_exceeded');
    expect(asking('cheap', { ignore: ['cheap'] })).toBe('model_not_routable');
  });

  it('keeps an unknown price out of every cap', () => {
    const keyed = { ...defaultInput, byok: readByokSources({ hasHeaderKey: true, connections: [] }) };
    expect(planned({ provider: { only: 'unpriced', max_price: 1_000 } }, keyed)).toBe('price_cap_exceeded');
  });
});

describe('stored connections that are allowed', () => {
  it('change no other provider: others are called with our credential, and an unknown price is no low price', () => {
    expect(planned({}, withConnections(defaultInput, connection('unpriced')))).toEqual(['cheap', 'dear', 'unpriced']);
  });

  it('serve where we hold no credential, and only there', () => {
    const bare = { ...defaultInput, isConfigured: () => false };
    expect(planned({}, withConnections(bare, connection('dear')))).toEqual(['dear']);
    expect(planned({}, withConnections(bare, connection('idle')))).toBe('provider_not_configured');
  });

  it('serve no call without a readable key', () => {
    const input = withConnections(
      { ...defaultInput, isConfigured: isOneOf('cheap') },
      connection('unpriced', { isAuthorised: false }),
    );
    expect(planned({}, input)).toEqual(['cheap']);
  });
});

describe('a stored connection that is always used', () => {
  const always = (provider: string, more: Partial<ByokConnection> = {}) =>
    connection(provider, { policy: 'always', ...more });
  const none = 'byok_no_eligible_connection';

  it('refuses a request that no connection can serve: another provider, model or feature', () => {
    expect(planned({}, withConnections(defaultInput, always('idle')))).toBe(none);
    expect(planned({ provider: { only: 'cheap' } }, withConnections(defaultInput, always('dear')))).toBe(none);
    expect(planned({ tools }, withConnections(defaultInput, always('dear')))).toBe(none);
    expect(planned({ provider: { only: 'unpriced' } }, withConnections(defaultInput, always('dear')))).toBe(none);
  });

  it('leaves an error that has nothing to do with connections as it is', () => {
    const input = withConnections(defaultInput, always('dear'));
    expect(planned({ model: 'unheard-of' }, input)).toBe('unknown_model');
    expect(planned({ provider: { ignore: ['unpriced', 'dear', 'cheap'] } }, input)).toBe('model_not_routable');
    expect(planned({ provider: { zdr: true } }, input)).toBe('no_policy_compliant_provider');
    expect(planned({ provider: { max_price: 2 } }, input)).toBe('price_cap_exceeded');
  });
});
