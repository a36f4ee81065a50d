// The list of models for clients of Anthropic's and of Google's interface, and models that are named without the part
// before the slash.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { anthropicOf } from '../support/official-clients.ts';

const names = Array.from({ length: 24 }, (_, place) => `acme/model-${place}`);
let gateway: Harness;
let anthropic: Anthropic;
const narrowKey = newKey();

beforeAll(async () => {
  const entry = { provider: 'acme', upstream: 'echo', more: { max_output_tokens: 4_096 } };
  gateway = await startHarness({
    models: {
      ...Object.fromEntries(names.map((name) => [name, [entry]])),
      'bolt/model-7': [entry],
      'bolt/eu/only-bolt': [entry],
      'no-slash': [entry],
      'bolt/no-slash': [entry],
      'acme/error': [{ provider: 'acme', upstream: 'error-500' }],
    },
    moreWorkspaces: [
      {
        id: 'narrow',
        credit_usd: '5',
        // Each name means the one model that ends in it, among the workspace's models if it has a list.
        models: ['model-3', 'bolt/model-7', 'only-bolt'],
        keys: [{ name: 'narrow', key: narrowKey, models: ['model-3', 'model-7'] }],
        functions: [
          {
            id: 'greet',
            kind: 'prompt',
            active: 'r1',
            revisions: [
              {
                id: 'r1',
                state: 'activated',
                expires_at: '2099-01-01T00:00:00Z',
                model: 'model-5',
                fallback_models: ['model-7'],
                messages: [{ role: 'user', content: '{{input}}' }],
                input: { type: 'text' },
              },
            ],
          },
        ],
      },
    ],
    workspace: {
      features: { presets: true },
      presets: [{ slug: 'five', designated: '1', versions: [{ version: '1', config: { models: ['model-5'] } }] }],
    },
  });
  anthropic = anthropicOf(gateway);
});
afterAll(() => gateway.stop());

const version = { 'anthropic-version': '2023-06-01' };
interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}
const pageOf = async (query = ''): Promise<Page> => {
  const response = await gateway.get(`/models${query}`, { ...version, authorization: `Bearer ${gateway.key}` });
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
};
const idsOf = ({ data }: Page) => data.map(({ id }) => id);
const allIds = ['auto', ...names, 'bolt/model-7', 'bolt/eu/only-bolt', 'no-slash', 'bolt/no-slash', 'acme/error'];

describe('the list of models with anthropic-version', () => {
  it('is read whole by the official SDK, page by page, and so is a model', async () => {
    const modelInfos: Anthropic.ModelInfo[] = [];
    for await (const model of anthropic.models.list()) modelInfos.push(model);
    expect(modelInfos.map(({ id }) => id)).toEqual(allIds);
    for (const model of modelInfos) {
      expect(Object.keys(model).sort()).toEqual(
        [
          ...['capabilities', 'created_at', 'deprecated_at', 'display_name', 'id', 'lifecycle', 'line'],
          ...['max_input_tokens', 'max_tokens', 'retires_at', 'type'],
        ].sort(),
      );
      expect(model).toMatchObject({ type: 'model', lifecycle: 'active', display_name: expect.any(String) });
      expect(new Date(model.created_at).toISOString().replace('.000Z', 'Z')).toBe(model.created_at);
    }
    expect(modelInfos[1]).toMatchObject({ max_input_tokens: 128_000, max_tokens: 4_096 });
    expect(await anthropic.models.retrieve('acme/model-1')).toEqual(modelInfos[2]);
    expect((await anthropic.models.retrieve('only-bolt')).id).toBe('bolt/eu/only-bolt');
  });

  it('is paged as theirs', async () => {
    const first = await pageOf();
    expect(first).toMatchObject({ has_more: true, first_id: 'auto', last_id: 'acme/model-18' });
    expect(first.data).toHaveLength(20);
    expect(Object.keys(first).sort()).toEqual(['data', 'first_id', 'has_more', 'last_id']);
    expect(await pageOf('?limit=1000')).toMatchObject({ has_more: false, last_id: 'acme/error' });
    expect(idsOf(await pageOf('?limit=2&after_id=acme%2Fmodel-3'))).toEqual(['acme/model-4', 'acme/model-5']);
    const before = await pageOf('?limit=2&before_id=acme%2Fmodel-3');
    expect(idsOf(before)).toEqual(['acme/model-1', 'acme/model-2']);
    expect(before.has_more).toBe(true);
    expect(await pageOf('?limit=2&before_id=acme/model-1')).toMatchObject({ first_id: 'auto', has_more: false });
    expect(await pageOf('?after_id=acme/error')).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=',
    'after_id=nobody',
    'before_id=nobody',
    'after_id=auto&before_id=auto',
  ])('refuses a page that cannot be, in their form: %s', async (query) => {
    const response = await gateway.get(`/models?${query}`, { ...version, 'x-api-key': gateway.key });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(query.split('=')[0] ?? '') },
      error_code: 'invalid_request',
    });
  });

  it('has errors in their form, and without the header nothing of it', async () => {
    for (const path of ['/models/nobody', '/models']) {
      const key = path === '/models' ? 'sk-gw-none' : gateway.key;
      const response = await gateway.get(path, { ...version, authorization: `Bearer ${key}`, 'x-api-key': key });
      expect(await response.json()).toMatchObject({ type: 'error', error: { message: expect.any(String) } });
      const plain = await gateway.get(path, { authorization: `Bearer ${key}` });
      expect(await plain.json()).toMatchObject({ error: path === '/models' ? 'UNAUTHORIZED' : 'unknown_model' });
    }
    await expect(anthropic.models.retrieve('nobody')).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    const ours = (await (
      await gateway.get('/models?limit=1', { authorization: `Bearer ${gateway.key}` })
    ).json()) as Page;
    expect(idsOf(ours)).toEqual(allIds);
  });
});

describe('a bare name', () => {
  const headersOfServer = async (response: Response) => {
    expect(response.status).toBe(200);
    const body = (await response.json()) as { usage: { model: string } };
    return [response.headers.get('x-gw-model'), body.usage.model];
  };

  it('means the one model that ends in it, as model, in models, and in a preset', async () => {
    const five = ['acme/model-5', 'acme/model-5'];
    expect(await headersOfServer(await gateway.post(hello('model-5')))).toEqual(five);
    expect(await headersOfServer(await gateway.post(hello('acme/error', { models: ['model-5'] })))).toEqual(five);
    expect(await headersOfServer(await gateway.post({ ...hello(''), model: null, models: ['model-5'] }))).toEqual(five);
    expect(await headersOfServer(await gateway.post(hello('acme/error', { preset: 'five' })))).toEqual(five);
    expect(await headersOfServer(await gateway.post(hello('only-bolt')))).toEqual([
      'bolt/eu/only-bolt',
      'bolt/eu/only-bolt',
    ]);
    const openai = new OpenAI({ apiKey: gateway.key, baseURL: gateway.url.replace('/v1', '/openai/v1') });
    expect((await openai.models.retrieve('model-5')).id).toBe('acme/model-5');
    await gateway.settled();
    const models = new Set((await gateway.records()).map(({ modelServed }) => modelServed));
    expect([...models].sort()).toEqual(['acme/model-5', 'bolt/eu/only-bolt']);
  });

  it('of an id that exists is that id, and shares its cached answer with the whole one', async () => {
    expect(await headersOfServer(await gateway.post(hello('no-slash')))).toEqual(['no-slash', 'no-slash']);
    const cache = { cache: { enabled: true } };
    await gateway.post(hello('acme/model-9', cache));
    await gateway.settled();
    expect((await gateway.post(hello('model-9', cache))).headers.get('x-gw-cache')).toBe('HIT');
  });

  it('of several is unknown, and they are named; so is one with a slash, and a part of a name', async () => {
    const refusalOf = async (model: string) => {
      const response = await gateway.post(hello(model));
      expect(response.status).toBe(400);
      const body = (await response.json()) as { error: string; message: string };
      expect(body.error).toBe('unknown_model');
      return body.message;
    };
    const several = await refusalOf('model-7');
    expect(several).toContain('"acme/model-7"');
    expect(several).toContain('"bolt/model-7"');
    expect(await refusalOf('model-77')).toContain('Did you mean');
    expect(await refusalOf('eu/only-bolt')).not.toContain('several');
    expect(await refusalOf('odel-5')).toContain('There is no model "odel-5"');
  });

  it('is looked for among the models of the key alone, which a list may name the same way', async () => {
    const authorization = { authorization: `Bearer ${narrowKey}` };
    expect(await headersOfServer(await gateway.post(hello('model-7'), authorization))).toEqual([
      'bolt/model-7',
      'bolt/model-7',
    ]);
    expect(await headersOfServer(await gateway.post(hello('model-3'), authorization))).toEqual([
      'acme/model-3',
      'acme/model-3',
    ]);
    expect((await gateway.post(hello('only-bolt'), authorization)).status).toBe(400);
    const list = (await (await gateway.get('/models', authorization)).json()) as Page;
    expect(idsOf(list)).toEqual(['auto', 'acme/model-3', 'bolt/model-7']);
  });

  it('gets the stored answer of the whole name again, with its Idempotency-Key', async () => {
    const headers = { authorization: `Bearer ${narrowKey}`, 'idempotency-key': 'bare-1' };
    const first = await (await gateway.post(hello('model-3'), headers)).text();
    await gateway.settled();
    const again = await gateway.post(hello('model-3'), headers);
    expect([again.status, again.headers.get('idempotent-replayed'), await again.text()]).toEqual([200, 'true', first]);
  });

  it('is understood in a function of the gateway file', async () => {
    const response = await gateway.post(hello('gw/function/greet'), {
      authorization: `Bearer ${narrowKey}`,
      'idempotency-key': '0b9b1e5e-2f6f-4b44-9a0b-4a2b9d9c1f11',
    });
    expect(response.status).toBe(200);
  });
});

interface GooglePage {
  readonly models: readonly { readonly name: string }[];
  readonly nextPageToken?: string;
}

describe('the models for clients of Google', () => {
  const ask = (path: string, headers: Record<string, string> = { 'x-goog-api-key': gateway.key }) =>
    fetch(new URL(gateway.url).origin + path, { headers });

  it.each(['/v1beta/models', '/v1/models', '/v1/v1beta/models'])('are listed in pages at %s', async (path) => {
    const seenIds: string[] = [];
    let token: string | undefined = '';
    for (let pages = 0; token !== undefined && pages < 5; pages += 1) {
      const response = await ask(`${path}?pageSize=10&pageToken=${encodeURIComponent(token)}`);
      const page = (await response.json()) as GooglePage;
      expect(Object.keys(page).filter((name) => !['models', 'nextPageToken'].includes(name))).toEqual([]);
      seenIds.push(...page.models.map(({ name }) => name));
      token = page.nextPageToken;
    }
    expect(seenIds).toEqual(allIds.map((id) => `models/${id}`));
  });

  it.each(['/v1beta/models/acme/model-3', '/v1beta/models/acme%2Fmodel-3', '/v1beta/models/model-3'])(
    'are read one by one, by a bearer too: %s',
    async (path) => {
      const model: unknown = await (await ask(path)).json();
      expect(model).toMatchObject({ name: 'models/acme/model-3', outputTokenLimit: 4_096 });
      expect(model).not.toHaveProperty('object');
      expect(await (await ask(path, { authorization: `Bearer ${gateway.key}` })).json()).toEqual(model);
      expect(await (await ask(path.replace('/v1beta', '/v1'))).json()).toEqual(model);
    },
  );

  it('refuse a key in the query, beside a good header too, and say why', async () => {
    for (const headers of [{}, { 'x-goog-api-key': gateway.key }]) {
      const response = await ask(`/v1beta/models?key=${gateway.key}`, headers as Record<string, string>);
      expect(response.status).toBe(401);
      const { error } = (await response.json()) as { readonly error: { readonly message: string } };
      expect(error).toMatchObject({ code: 401, status: 'UNAUTHENTICATED', details: [{ reason: 'UNAUTHORIZED' }] });
      expect(error.message).toContain('x-goog-api-key');
      expect(JSON.stringify(error)).not.toContain('sk-gw-');
    }
    expect((await ask('/v1/models', {})).status).toBe(401);
  });

  it('refuse a page that there is none of', async () => {
    for (const query of ['pageSize=many', 'pageToken=none']) {
      expect((await ask(`/v1beta/models?${query}`)).status).toBe(400);
    }
  });
});
