import { describe, expect, it } from '#jest';
import type { CatalogueDocument } from '../../../shared/configuration/catalogue/index.ts';
import { completeCatalogue } from '../../../shared/configuration/gateway-file/complete-catalogue.ts';
import { catalogueInFile } from '../../../shared/configuration/gateway-file/export-gateway-file.ts';
import { formatProblem, planGatewayFile } from '../../../shared/configuration/gateway-file/index.ts';
import { loadModelList, type ModelList, providerKinds } from '../../../shared/configuration/model-list/index.ts';
import { fileOf, problemsOf } from './example-file.ts';

const list = await loadModelList();
const nowMs = 1_800_000_000_000;

interface Options {
  readonly former?: CatalogueDocument | undefined;
  readonly list?: ModelList;
  readonly region?: string | undefined;
}

const complete = (text: string, { former, list: other = list, region = 'eu-west-1' }: Options = {}) =>
  completeCatalogue(fileOf(text), { former, list: other, region, nowMs });
const catalogueOf = (text: string, options?: Options) => {
  const { document, issues } = complete(text, options);
  expect(issues).toEqual([]);
  return document;
};
const linesOf = (text: string, options?: Options) =>
  complete(text, options).issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
const entryOf = (text: string, options?: Options) => catalogueOf(text, options).models[0]?.providers[0];

const openai = 'providers: [{ id: openai, kind: openai }]\n';
const withModel = (entry: string, id = 'openai/gpt-5.4') => `${openai}models: [{ id: ${id}, providers: [${entry}] }]`;

/** The same list with other prices and features, as a later release may contain it. */
const laterList: ModelList = {
  ...list,
  find: (kind, name, region) => {
    const model = list.find(kind, name, region);
    return model && { ...model, prices: { ...model.prices, input: '9.00', cachedInput: '0.90' }, features: [] };
  },
  offered: () => [],
};
const emptyList: ModelList = { ...list, find: () => undefined, offered: () => [], names: () => [] };

describe('a provider of a kind', () => {
  const needsMore: Readonly<Record<string, string>> = {
    azure: ', base_url: "https://gw.openai.azure.com/openai/v1"',
    vertex:
      ', base_url: "https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google", auth: { gcp: { env: G } }',
    ollama: ', base_url: "http://127.0.0.1:11434/v1"',
    vllm: ', base_url: "http://127.0.0.1:8000/v1"',
  };
  const providerOf = (kind: string, more = needsMore[kind] ?? '') =>
    catalogueOf(`providers: [{ id: p, kind: ${kind}${more} }]\nmodels: []`).providers[0];

  it.each([
    ['openai', 'https://api.openai.com/v1', { bearer: { env: 'OPENAI_API_KEY' } }],
    ['anthropic', 'https://api.anthropic.com/v1', { header: { name: 'x-api-key', env: 'ANTHROPIC_API_KEY' } }],
    ['azure', 'https://gw.openai.azure.com/openai/v1', { header: { name: 'api-key', env: 'AZURE_OPENAI_API_KEY' } }],
    [
      'bedrock',
      'https://bedrock-runtime.eu-west-1.amazonaws.com',
      { sigv4: { service: 'bedrock', region: 'eu-west-1' } },
    ],
    ['ollama', 'http://127.0.0.1:11434/v1', 'none'],
  ])('%s has its usual address and the usual name of its key', (kind, base_url, auth) => {
    expect(providerOf(kind)).toMatchObject({ base_url, auth });
  });

  it.each([
    ['openai', '', { bearer: { env: 'A' } }],
    ['anthropic', '', { header: { name: 'x-api-key', env: 'A' } }],
    ['vertex', ', base_url: "https://g.example"', { gcp: { env: 'A' } }],
    ['ollama', ', base_url: "http://127.0.0.1:11434/v1"', { bearer: { env: 'A' } }],
  ])('%s takes several credentials if it takes one', (kind, more, auth) => {
    const credentials = [{ env: 'A' }, { secret: 'b' }];
    const text = `, credentials: [{ env: A }, { secret: b }]${more}`;
    expect(providerOf(kind, text)).toMatchObject({ auth, credentials });
  });

  it('keeps its region if the next apply knows none, and needs one at the first', () => {
    const text = 'providers: [{ id: p, kind: bedrock }]\nmodels: []';
    const former = catalogueOf(text);
    expect(completeCatalogue(fileOf(text), { former, list, region: undefined, nowMs }).document).toEqual(former);
    const { issues } = completeCatalogue(fileOf(text), { former: undefined, list, region: undefined, nowMs });
    expect(issues.map(({ path }) => path.join('.'))).toEqual(['providers.0.region']);
  });

  it.each([
    ['kind: openay', 'providers[0].kind: must be one of .*did you mean openai\\?'],
    ['kind: azure', 'providers[0].base_url: is required at kind azure, such as https://RESOURCE'],
    ['kind: vertex, base_url: "https://g.example"', 'providers[0].auth: is required at kind vertex, such as { gcp'],
    [
      'kind: azure, base_url: "https://g.example", auth: { entra: { tenant: "a/b", client_id: c, client_secret: { env: S } } }',
      'providers[0].auth.entra.tenant: must be an id or a domain',
    ],
    [
      'kind: azure, base_url: "https://g.example", auth: { entra: { tenant: t, client_id: c, client_secret: the-secret } }',
      'providers[0].auth.entra.client_secret: must not be the credential itself',
    ],
    ['kind: openai, region: eu-west-1', 'providers[0].region: belongs to a provider of kind bedrock'],
    ['display_name: x', 'providers[0].base_url: is required'],
  ])('that is wrong (%s) is one line with its path', (members, line) => {
    const problems = problemsOf(`providers: [{ id: p, ${members} }]\nmodels: []`);
    expect(problems.map((problem) => formatProblem(problem, 'file'))).toEqual([
      expect.stringMatching(new RegExp(line.replace(/[[\]{}]/g, '\\$&'))),
    ]);
  });
});

describe('a model by its name', () => {
  it('has prices, tiers, bounds, features, modalities and interfaces of the list', () => {
    const { models } = catalogueOf(withModel('{ provider: openai }'));
    expect(models[0]).toMatchObject({
      id: 'openai/gpt-5.4',
      context_length: 1_050_000,
      modalities: ['text', 'image', 'file'],
      providers: [
        {
          upstream_model: 'gpt-5.4',
          input_price_per_million: '2.50',
          output_price_per_million: '15.00',
          cached_input_price_per_million: '0.25',
          price_tiers: [
            { above_prompt_tokens: 272_000, input_price_per_million: '5.00', output_price_per_million: '22.50' },
          ],
          max_output_tokens: 128_000,
          apis: ['chat-completions', 'responses'],
          supported_params: { tools: true, vision: true, json_mode: true, json_schema: true },
          streaming: true,
        },
      ],
    });
  });

  it('has prices of sound of the list, but for those that the file writes', () => {
    const google = (members: string) =>
      `providers: [{ id: google, kind: google }]\nmodels: [{ id: google/gemini-2.5-flash, providers: [{ provider: google${members} }] }]`;
    const entry = (members: string) => catalogueOf(google(members)).models[0]?.providers[0];
    expect(entry('')).toMatchObject({ input_price_per_million: '0.30', audio_input_price_per_million: '1.00' });
    expect(entry('')?.audio_output_price_per_million).toBeUndefined();
    expect(entry(', audio_input_price_per_million: "0.90"')?.audio_input_price_per_million).toBe('0.90');
  });

  it('of a deployment with a name of its own is known by the name of the model', () => {
    const azure = 'providers: [{ id: az, kind: azure, base_url: "https://gw.openai.azure.com/openai/v1" }]\n';
    const text = `${azure}models: [{ id: az/gpt-4.1, providers: [{ provider: az, upstream_model: my-deployment }] }]`;
    expect(entryOf(text)).toMatchObject({ upstream_model: 'my-deployment', input_price_per_million: '2.00' });
  });

  it.each([
    ['kind: azure, ', 'gpt-4.1', ['chat-completions', 'embeddings']],
    ['kind: vllm, ', 'openai/gpt-4.1', ['chat-completions']],
    ['', 'openai/gpt-4.1', ['chat-completions']],
  ])(
    'of a provider (%s) has the facts of %s, whatever its own names are, and an export keeps it',
    (kind, name, apis) => {
      const text = `providers: [{ id: p, ${kind}base_url: "https://p.example/v1", apis: [${apis.join(', ')}] }]
models: [{ id: house, providers: [{ provider: p, upstream_model: our-deployment, list_model: ${name} }] }]`;
      const document = catalogueOf(text);
      expect(document.models[0]?.providers[0]).toMatchObject({
        upstream_model: 'our-deployment',
        list_model: name,
        input_price_per_million: '2.00',
        context_length: 1_047_576,
        supported_params: { tools: true, vision: true },
      });
      expect(catalogueInFile(document, list)).toMatchObject({
        models: [{ providers: [{ provider: 'p', upstream_model: 'our-deployment', list_model: name }] }],
      });
      // Another name brings the facts of the other model, because the stored facts are those of the former model.
      const other = text.replace(`list_model: ${name}`, `list_model: ${name}-mini`);
      const otherCatalogue = completeCatalogue(fileOf(other), { former: document, list, region: undefined, nowMs });
      expect(otherCatalogue.document.models[0]?.providers[0]).toMatchObject({ input_price_per_million: '0.40' });
    },
  );

  it('that the list does not have is a fault of list_model alone', () => {
    expect(linesOf(withModel('{ provider: openai, list_model: gtp-5.4 }', 'openai/any'))).toEqual([
      'models.0.providers.0.list_model: the model list has no "gtp-5.4": write a name of the provider\'s kind, or KIND/NAME; did you mean gpt-5.4?',
    ]);
  });

  it('of Amazon Bedrock has the price of its inference profile, or of the region of its provider', () => {
    const priceIn = (name: string, region: string) =>
      entryOf(
        `providers: [{ id: b, kind: bedrock }]\nmodels: [{ id: m, providers: [{ provider: b, upstream_model: "${name}" }] }]`,
        { region },
      )?.input_price_per_million;
    expect(priceIn('eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'eu-west-1')).toBe('3.30');
    expect(priceIn('global.anthropic.claude-sonnet-4-5-20250929-v1:0', 'eu-west-1')).toBe('3.00');
    expect(priceIn('deepseek.v3.2', 'ap-northeast-1')).not.toBe(priceIn('deepseek.v3.2', 'us-east-1'));
  });

  it('without a description is reported in one line, with all that is missing and the nearest name', () => {
    expect(linesOf(withModel('{ provider: openai }', 'openai/gtp-5.4'))).toEqual([
      'models.0.providers.0: the model list has no "gtp-5.4" of kind openai, so input_price_per_million, output_price_per_million, context_length must be written, or list_model; did you mean gpt-5.4?',
    ]);
    const plain =
      'providers: [{ id: p, base_url: "https://p.example" }]\nmodels: [{ id: m, context_length: 9, providers: [{ provider: p }] }]';
    expect(problemsOf(plain)).toMatchObject([
      { path: 'models[0].providers[0]', message: expect.stringContaining('input_price_per_million and output_price') },
    ]);
  });

  it('may narrow the interfaces of its provider, and not widen them', () => {
    expect(entryOf(withModel('{ provider: openai, apis: [responses] }'))?.apis).toEqual(['responses']);
    expect(problemsOf(withModel('{ provider: openai, apis: [messages] }'))).toMatchObject([
      {
        path: 'models[0].providers[0].apis[0]',
        message: `is none of the apis of provider openai: ${providerKinds.openai.apis.join(', ')}`,
      },
    ]);
  });

  it('is reported in one round with all that is wrong elsewhere: an unknown `from`, interfaces beyond its provider', () => {
    const entry = '{ provider: openai, apis: [messages], colour: red }';
    const text = `providers: [{ id: openai, kind: openai, wieght: 1 }]
models: [{ from: nobody }, { from: other, only: [a], colour: red }, { id: m, providers: [${entry}] }]
service: { queue_ms: -1 }`;
    expect(new Set(problemsOf(text).map(({ path }) => path))).toEqual(
      new Set([
        'providers[0].wieght',
        'models[0].from',
        'models[1].from',
        'models[1].colour',
        'models[2].providers[0].apis[0]',
        'models[2].providers[0].colour',
        'service.queue_ms',
      ]),
    );
  });

  const tier = (bound: number) =>
    `{ above_prompt_tokens: ${bound}, input_price_per_million: "1", output_price_per_million: "1" }`;
  it.each([
    [
      'price_tiers: [{ above_prompt_tokens: 9, output_price_per_million: "1" }]',
      'price_tiers[0].input_price_per_million: is required',
    ],
    [
      `price_tiers: [${tier(9)}, ${tier(9)}]`,
      'price_tiers[1].above_prompt_tokens: must be greater than above_prompt_tokens of the tier before it, 9',
    ],
    [
      `price_tiers: [${tier(9)}, ${tier(10)}, ${tier(8)}]`,
      'price_tiers[2].above_prompt_tokens: must be greater than above_prompt_tokens of the tier before it, 10',
    ],
    ['default_output_tokens: 0', 'default_output_tokens: must be at least 1'],
    ['apis: []', 'apis: must name an interface, such as chat-completions'],
  ])('is refused with %s, in one line with its path', (member, line) => {
    const problems = problemsOf(withModel(`{ provider: openai, ${member} }`));
    expect(problems.map((problem) => formatProblem(problem, 'file'))).toEqual([
      expect.stringContaining(`models[0].providers[0].${line}`),
    ]);
  });
});

describe('applying again', () => {
  const text = withModel('{ provider: openai, output_price_per_million: "20.00" }');

  it('keeps what was filled in, even if the list of the release has changed or lost the model', () => {
    const former = catalogueOf(text);
    expect(catalogueOf(text, { former, list: laterList })).toEqual(former);
    expect(catalogueOf(text, { former, list: emptyList })).toEqual(former);
  });

  it('fills in what an entry lacks that was stored before there was a list', () => {
    const storedCatalogue = catalogueOf(text);
    const bare = storedCatalogue.models.map(({ written: _model, ...model }) => ({
      ...model,
      providers: model.providers.map(({ written: _entry, ...entry }) => ({
        ...entry,
        cached_input_price_per_million: undefined,
      })),
    }));
    expect(entryOf(text, { former: { ...storedCatalogue, models: bare } })?.cached_input_price_per_million).toBe(
      '0.25',
    );
  });
});

describe('{ from, only }', () => {
  const from = (members: string, more = '') => `${openai}models: [{ from: openai, ${members} }${more}]`;
  const idsOf = (text: string, options?: Options) => catalogueOf(text, options).models.map(({ id }) => id);

  it('is one model for each name that a pattern matches, embeddings too, and one that the file names itself wins', () => {
    const ids = idsOf(from('only: ["gpt-4.1*", text-embedding-3-small]'));
    expect(ids).toEqual(
      expect.arrayContaining(['openai/gpt-4.1', 'openai/gpt-4.1-mini', 'openai/text-embedding-3-small']),
    );
    expect(ids.every((id) => /gpt-4\.1|text-embedding-3-small/.test(id))).toBe(true);
    const modelEntry =
      ', { id: openai/gpt-4.1, auto: true, providers: [{ provider: openai, input_price_per_million: "7" }] }';
    const { models } = catalogueOf(from('only: ["gpt-4.1*"]', modelEntry));
    expect(models.filter(({ id }) => id === 'openai/gpt-4.1')).toMatchObject([
      { auto: true, providers: [{ input_price_per_million: '7' }] },
    ]);
  });

  it("takes Bedrock's and Google's embedding models, which serve embeddings alone", () => {
    const providers = 'providers: [{ id: bedrock, kind: bedrock, region: eu-west-1 }, { id: google, kind: google }]\n';
    const modelEntry = '{ from: bedrock, only: ["*titan-embed*", "*cohere.embed*", "*nova-2-multimodal-embed*"] }';
    const { models } = catalogueOf(
      `${providers}models: [${modelEntry}, { from: google, only: ["gemini-embedding*"] }]`,
    );
    expect(models.length).toBeGreaterThan(7);
    expect(models.flatMap(({ providers: [entry] }) => entry?.apis ?? [])).toEqual(models.map(() => 'embeddings'));
    const chat = catalogueOf(`${providers}models: [{ from: google, only: [gemini-2.5-flash] }]`).models[0];
    expect(chat?.providers[0]?.apis).toEqual(['generate-content']);
  });

  it.each([
    [
      'only: [gtp-4.1]',
      'models.0.only.0: matches no model of kind openai in the model list: "gtp-4.1"; did you mean gpt-4.1?',
    ],
    [
      'only: ["gpt5*"]',
      'models.0.only.0: matches no model of kind openai in the model list: "gpt5*"; did you mean gpt-5?',
    ],
    ['only: ["claude*"]', 'models.0.only.0: matches no model of kind openai'],
  ])('is a fault if %s matches nothing', (members, line) => {
    expect(linesOf(from(members))).toEqual([expect.stringContaining(line)]);
  });

  it('with as: "NAME" gives the names without a prefix, and as: anything else is a fault', () => {
    expect(idsOf(from('only: ["gpt-4.1"], as: "NAME"'))).toEqual(['gpt-4.1']);
    const former = catalogueOf(from('only: ["gpt-4.1"], as: "NAME"'));
    expect(idsOf(from('as: "NAME"'), { former, list: emptyList })).toEqual(['gpt-4.1']);
    expect(problemsOf(from('as: name'))).toMatchObject([
      { path: 'models[0].as', message: expect.stringContaining('must be "NAME"') },
    ]);
  });

  it.each([
    [
      'only: [gpt-4.1], as: "NAME"',
      ', { from: openai, only: ["gpt-4.1*"], as: "NAME" }',
      'makes gpt-4.1, which models[0]',
    ],
    ['only: [gpt-4.1]', ', { from: openai, only: ["gpt-4.1*"] }', 'makes openai/gpt-4.1, which models[0] makes too'],
    ['', ', { from: openai }', 'and '],
  ])('is a fault in one line if two of them make a name: %s', (members, more, line) => {
    expect(linesOf(from(members, more))).toEqual([expect.stringContaining(line)]);
    expect(linesOf(from(members, more))[0]).toMatch(/^models\.1: /);
  });

  it('may make a name that two of them make if the file names that model itself', () => {
    const modelEntry = ', { id: gpt-4.1, providers: [{ provider: openai }] }';
    const both = ', { from: openai, only: [gpt-4.1], as: "NAME" }';
    expect(idsOf(from('only: [gpt-4.1], as: "NAME"', both + modelEntry))).toEqual(['gpt-4.1']);
  });

  it('is a fault at a provider without a kind, of an unlisted kind, or that is not there', () => {
    const at = (provider: string) => `providers: [${provider}]\nmodels: [{ from: p }]`;
    expect(linesOf(at('{ id: p, base_url: "https://p.example" }'))[0]).toContain('models.0.from: has no kind');
    expect(linesOf(at('{ id: p, kind: vllm, base_url: "https://p.example" }'))[0]).toContain(
      'has no models of kind vllm',
    );
    expect(problemsOf(at('{ id: q, kind: openai }'))[0]?.path).toBe('models[0].from');
  });

  it('lets workspaces, keys and functions name what it brings, and nothing else', async () => {
    const naming = (id: string) =>
      planGatewayFile({
        file: fileOf(`${from('only: ["gpt-4.1*"]')}\nworkspaces: [{ id: w, models: [${id}] }]`),
        stores: storesWithNothing,
        readVariable: () => undefined,
        randomness: { bytes: (size: number) => new Uint8Array(size) } as never,
        nowMs,
      });
    await expect(naming('openai/gpt-4.1')).resolves.toMatchObject({ notes: [] });
    await expect(naming('openai/gpt-5')).rejects.toThrow('workspaces[0].models[0]: there is no model "openai/gpt-5"');
  });
});

const storesWithNothing = {
  catalogues: { read: async () => undefined },
  workspaceStore: { read: async () => undefined },
  credit: {},
  keys: { list: async function* () {} },
  functionStore: {},
  connectionStore: { read: async () => [] },
} as never;

describe('an interface for which a kind has no address', () => {
  it.each([
    ['kind: cohere, apis: [messages]', 'providers[0].apis[0]', 'cohere has no address for messages'],
    [
      'kind: cohere, apis: [messages], base_url: "https://cohere.example"',
      'providers[0].apis[0]',
      'cohere has no address for messages',
    ],
    [
      'kind: vertex, apis: [generate-content, responses], base_url: "https://v.example/publishers/google", auth: none',
      'providers[0].apis[1]',
      'vertex has no address for responses',
    ],
    [
      'kind: deepseek, apis: [chat-completions, embeddings]',
      'providers[0].apis[1]',
      'deepseek has no address for embeddings',
    ],
    [
      'kind: anthropic, apis: [chat-completions], base_url: "https://api.anthropic.com/v1/"',
      'providers[0].apis[0]',
      'anthropic has no address for chat-completions',
    ],
  ])('is a fault of the file: %s', (fragment, path, words) => {
    expect(problemsOf(`providers: [{ id: p, ${fragment} }]\nmodels: []`)).toMatchObject([
      { path, message: expect.stringContaining(words) },
    ]);
  });

  it('is none if the file writes the address, or the kind has another for it', () => {
    for (const fragment of [
      'kind: deepseek, apis: [embeddings], base_url: "https://proxy.example/v1"',
      'kind: vertex, apis: [messages], base_url: "https://v.example/publishers/google", auth: none',
      'base_url: "https://runtime.sagemaker.eu-west-1.amazonaws.com/endpoints/chat/openai/v1"',
      'base_url: "https://eu-de.ml.cloud.ibm.com/ml/gateway/v1"',
      'apis: [messages], base_url: "https://gw.services.ai.azure.com/anthropic/v1"',
    ]) {
      expect(problemsOf(`providers: [{ id: p, ${fragment} }]\nmodels: []`)).toEqual([]);
    }
  });
});
