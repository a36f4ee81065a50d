import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { routeNames } from '../../shared/configuration/management/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { asOperator, type OperatorRequests, operatorOf, walk } from '../support/operator-requests.ts';
import { description, differencesOf, faultsOf, operationOf } from './api-description.ts';

const hostile = '<img src=x onerror=alert(1)>';
const otherKey = newKey();
let gateway: Harness;
let ada: OperatorRequests;

beforeAll(async () => {
  gateway = await startHarness({
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo', more: { rate_limit_rpm: 100, rate_limit_tpd: 1_000_000 } }],
      'acme/failing': [{ provider: 'globex', upstream: 'error-500' }],
      'zeta/silent': [{ provider: 'zeta', upstream: 'silent' }],
      'zulu/listed': [{ provider: 'zulu', upstream: 'gpt-5.4', more: { cached_input_price_per_million: '0.30' } }],
    },
    providers: { zulu: { kind: 'openai' } },
    key: { spend_limit_usd: '10' },
    workspace: {
      functions: [
        {
          ...promptFunction('label', 'acme/echo'),
          revisions: ['r1', 'r2'].map((id) => ({
            id,
            state: id === 'r1' ? 'activated' : 'draft',
            model: 'acme/echo',
            messages: [{ role: 'user', content: `${id} {{input}}` }],
          })),
        },
      ],
    },
    moreWorkspaces: [
      { id: 'other', credit_usd: '1', keys: [{ name: hostile, key: otherKey, tags: { team: 'search' } }] },
    ],
  });
  ada = await operatorOf(gateway, 'ada');
  for (const model of ['acme/echo', 'acme/failing', 'acme/echo', 'acme/failing', 'acme/echo']) {
    const tags = model === 'acme/failing' ? 'team=ads,run=7' : 'run=8';
    const session = model === 'acme/failing' ? { 'x-session-id': 's-1' } : { 'x-title': '=HYPERLINK("x")' };
    await (await gateway.post(hello(model), { 'x-gw-tags': tags, ...session })).text();
  }
  await (await gateway.post(hello('acme/echo'), { authorization: `Bearer ${otherKey}` })).text();
  await gateway.settled();
});
afterAll(() => gateway.stop());

/** Returns the log lines from this index on. */
const linesSince = (at: number) =>
  gateway.logLines.slice(at).map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
/** Reads the changes of a request from its log line. */
async function changesOf(work: () => Promise<unknown>) {
  await gateway.settled();
  const at = gateway.logLines.length;
  await work();
  await gateway.settled();
  const lines = linesSince(at);
  expect(JSON.stringify(lines)).not.toMatch(/sk-gw-|[0-9A-Za-z]{43}/);
  return lines.filter(({ change }) => change !== undefined);
}

describe('the management interface', () => {
  it.each(['/key', '/credits', '/models', '/models/acme/echo', '/generation?id=x'])(
    'is all that an operator key opens: %s is refused',
    async (path) => {
      await expectError(await gateway.get(path, { authorization: `Bearer ${ada.key}` }), 401, 'UNAUTHORIZED');
    },
  );

  it('lets no operator key call a model, at any address: no provider is called and no record is left', async () => {
    const before = (await gateway.records()).length;
    gateway.simulator.clear();
    const { origin } = new URL(gateway.url);
    const paths = ['chat/completions', 'messages', 'messages/count_tokens', 'responses', 'embeddings'];
    const openai = ['chat/completions', 'responses', 'embeddings'];
    for (const path of [...paths.map((one) => `/v1/${one}`), ...openai.map((one) => `/openai/v1/${one}`)]) {
      const headers = { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ ...hello('acme/echo'), input: 'Hello', max_tokens: 5 });
      const response = await fetch(origin + path, { method: 'POST', headers, body });
      expect([path, response.status, await response.text()]).toEqual([
        path,
        401,
        expect.stringContaining('UNAUTHORIZED'),
      ]);
    }
    await gateway.settled();
    expect([(await gateway.records()).length, gateway.simulator.calls]).toEqual([before, []]);
  });

  it('refuses an operator from the first request after the revocation', async () => {
    const eve = await operatorOf(gateway, 'eve');
    expect((await eve.get('/keys')).status).toBe(200);
    const { operators } = gateway.composition;
    const record = await operators.read(parseApiKey(eve.key)?.publicId ?? '');
    if (record === undefined) throw new Error('the operator must be stored');
    await operators.write({ ...record, status: 'revoked' });
    expect((await eve.get('/keys')).status).toBe(401);
  });

  it('refuses another secret under the public id of an operator', async () => {
    const { operators } = gateway.composition;
    const other = newKey();
    const record = await operators.read(parseApiKey(ada.key)?.publicId ?? '');
    if (record === undefined) throw new Error('the operator must be stored');
    await operators.write({ ...record, publicId: parseApiKey(other)?.publicId ?? '' });
    expect((await asOperator(gateway, other).get('/keys')).status).toBe(401);
  });

  it('may be read by no page of another origin, and answers nothing that a cache may keep', async () => {
    const { response } = await ada.get('/keys');
    const preflight = await ada.send('OPTIONS', '/keys');
    expect([preflight.status, preflight.response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    for (const { headers } of [response, preflight.response]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
    expect(response.headers.get('cache-control')).toBe('private, no-store');
  });

  it('answers an unknown path with not_found and a known one in another method with 405', async () => {
    expect((await ada.get('/nothing')).status).toBe(404);
    expect((await ada.send('POST', '/workspaces/team')).status).toBe(405);
    expect((await ada.send('POST', '/overview/rename')).status).toBe(404);
    for (const below of ['/keys/0000000000000000/unknown', '/functions/team/label/unknown', '/calls/a/b']) {
      for (const method of ['GET', 'POST', 'PATCH']) expect((await ada.send(method, below)).status).toBe(404);
    }
    expect((await fetch(`${new URL(gateway.url).origin}/openai/v1/manage/keys`)).status).toBe(404);
  });

  it.each([
    ['/keys?limit=0', 'limit'],
    ['/keys?limit=201', 'limit'],
    ['/keys?limit=1&limit=2', 'limit'],
    ['/keys?colour=red', 'colour'],
    ['/keys?cursor=%20', 'cursor'],
    ['/calls?before=AAAA', 'before'],
    ['/calls?since=91d', 'since'],
    ['/calls?since=0s', 'since'],
    ['/calls?outcome=good', 'outcome'],
    ['/calls?workspace=a%2Fb', 'workspace'],
    ['/overview?since=yesterday', 'since'],
    ['/overview?tag=Team', 'tag'],
    ['/calls?tag=team', 'tag'],
  ])('refuses %s and names the parameter', async (path, param) => {
    const { status, body } = await ada.get(path);
    expect([status, body.error, body.message]).toEqual([
      400,
      'invalid_request',
      expect.stringContaining(param === 'limit' && path.includes('&') ? 'twice' : param),
    ]);
  });
});

describe('the description of the interface', () => {
  it.each(['overview', 'calls', 'providers', 'models', 'keys', 'workspaces', 'functions'])(
    'says what GET %s answers, errors included',
    async (path) => {
      const operation = operationOf('GET', `/v1/manage/${path}`);
      for (const query of ['', '?colour=red']) {
        expect(await differencesOf(operation, (await ada.get(`/${path}${query}`)).response)).toEqual([]);
      }
      const refusal = await fetch(`${gateway.url}/manage/${path}`);
      expect(await differencesOf(operation, refusal)).toEqual([]);
      expect(operation).toMatchObject({ security: [{ operatorKey: [] }] });
    },
  );

  it('names the tag by which calls are found and counted, and what is counted by it', () => {
    for (const path of ['overview', 'calls']) {
      const tag = expect.objectContaining({ name: 'tag', in: 'query' });
      expect(operationOf('GET', `/v1/manage/${path}`)).toMatchObject({ parameters: expect.arrayContaining([tag]) });
    }
    expect(description.components.schemas.ManagedOverview).toHaveProperty('properties.by_tag.type', 'array');
  });

  it('takes the bodies that the gateway takes, and names no field that it refuses', async () => {
    const bodyOf = (method: string, path: string) =>
      (operationOf(method, path) as unknown as { requestBody: { content: { 'application/json': { schema: object } } } })
        .requestBody.content['application/json'].schema as Record<string, unknown>;
    const key = bodyOf('POST', '/v1/manage/keys');
    expect(faultsOf(key, { workspace: 'team', name: 'n', rpm: null, models: 'all', tags: { team: 'x' } })).toEqual([]);
    for (const wrong of [
      { name: 'n' },
      { workspace: 'team', name: 'n', rpm: 0 },
      { workspace: 'team', name: 'n', a: 1 },
    ]) {
      expect(faultsOf(key, wrong)).not.toEqual([]);
    }
    const changes = bodyOf('PATCH', '/v1/manage/keys/{public_id}');
    expect(faultsOf(changes, { status: 'revoked', expires_at: '2027-01-01' })).toEqual([]);
    expect(faultsOf(bodyOf('POST', '/v1/manage/workspaces/{id}/credits'), { amount_usd: '5', id: 'a/b' })).not.toEqual(
      [],
    );
    expect(faultsOf(bodyOf('POST', '/v1/manage/functions/{workspace}/{id}/activate'), { revision: 'r2' })).toEqual([]);
    expect(Object.keys(description.paths).filter((path) => path.startsWith('/v1/manage/'))).toHaveLength(
      new Set(routeNames.map((name) => name.split(' ')[1])).size,
    );
  });

  it('says what changes answer', async () => {
    const differences = async (method: string, path: string, template: string, body?: unknown) =>
      differencesOf(operationOf(method, `/v1/manage${template}`), (await ada.send(method, path, body)).response);
    const creation = await ada.send('POST', '/keys', { workspace: 'other', name: 'described' });
    expect(await differencesOf(operationOf('POST', '/v1/manage/keys'), creation.response)).toEqual([]);
    const id = creation.body.data.public_id;
    expect(await differences('PATCH', `/keys/${id}`, '/keys/{public_id}', { status: 'revoked' })).toEqual([]);
    const credits = '/workspaces/{id}/credits';
    for (const body of [
      { amount_usd: '0.1', id: 'd' },
      { amount_usd: '0.2', id: 'd' },
      { amount_usd: '-9', id: 'e' },
      {},
    ]) {
      expect(await differences('POST', '/workspaces/other/credits', credits, body)).toEqual([]);
    }
    expect(await differences('POST', '/functions/team/label/enable', '/functions/{workspace}/{id}/enable')).toEqual([]);
    const [call] = (await ada.get('/calls?limit=1')).body.data;
    expect(await differences('GET', `/calls/${call.id}`, '/calls/{id}')).toEqual([]);
  });
});

describe('the overview', () => {
  it('adds up the calls that have a record, in total, over the time, and by workspace, model, provider and key, with the names of their tags', async () => {
    const { status, body } = await ada.get('/overview?since=2h');
    expect(status).toBe(200);
    const { totals, series, by_model, by_provider, by_workspace, by_key, tag_names, is_complete, interval } = body.data;
    const records = [...(await gateway.records()), ...(await gateway.records('other'))];
    const failed = records.filter(({ outcome }) => outcome === 'no_available_provider').length;
    const refusal = records.filter(({ outcome }) => outcome === 'unknown_model').length;
    expect(totals).toEqual({
      calls: records.length,
      failed,
      refused: refusal,
      cost_usd: expect.stringMatching(/^0\.\d+$/),
      byok_cost_usd: '0',
      tokens: records.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0),
      p50_ms: expect.any(Number),
      p95_ms: expect.any(Number),
    });
    expect([is_complete, interval]).toEqual([true, 'hour']);
    expect(series.length).toBeGreaterThanOrEqual(3);
    expect(series.map(({ time }: { time: string }) => time.slice(13))).toEqual(series.map(() => ':00:00.000Z'));
    const sum = (member: string) =>
      series.reduce((total: number, one: Record<string, number>) => total + (one[member] ?? 0), 0);
    expect([sum('calls'), sum('failed'), sum('tokens')]).toEqual([totals.calls, failed, totals.tokens]);
    expect(series[0]).toMatchObject({ calls: 0, cost_usd: '0', p50_ms: null, p95_ms: null });
    expect(by_model).toContainEqual(expect.objectContaining({ model: 'acme/echo', calls: 4, failed: 0 }));
    expect(by_provider).toContainEqual(
      expect.objectContaining({ provider: 'globex', attempts: 2, failed_attempts: 2 }),
    );
    expect(by_key).toContainEqual(expect.objectContaining({ name: hostile, workspace: 'other', calls: 1 }));
    const callsOf = (workspace: string) => records.filter((record) => record.workspace === workspace).length;
    expect(
      Object.fromEntries(by_workspace.map((one: { workspace: string; calls: number }) => [one.workspace, one.calls])),
    ).toEqual({ team: callsOf('team'), other: callsOf('other') });
    const dearest = by_workspace.map(({ cost_usd }: { cost_usd: string }) => Number(cost_usd));
    expect(dearest).toEqual(dearest.toSorted((one: number, other: number) => other - one));
    expect(tag_names).toEqual(expect.arrayContaining(['team']));
    expect(body.data).not.toHaveProperty('by_tag');
    const { by_tag } = (await ada.get('/overview?since=2h&tag=team')).body.data;
    expect(by_tag.map(({ value, calls, failed }: Record<string, unknown>) => [value, calls, failed])).toEqual(
      expect.arrayContaining([
        [null, 3, 0],
        ['search', 1, 0],
        ['ads', 2, 2],
      ]),
    );
    const byDay = (await ada.get('/overview?since=7d')).body.data;
    expect([byDay.interval, byDay.totals.calls]).toEqual(['day', totals.calls]);
    expect([7, 8]).toContain(byDay.series.length);
  });

  it('tells what callers paid with their own provider keys apart', async () => {
    const [record] = await gateway.records();
    if (record === undefined) throw new Error('there is no call');
    const paid = { ...record, isByok: true, costPicoUsd: 2_000_000_000_000n, modelServed: 'acme/echo' };
    // The time of this record is so long ago that no other test reads it.
    await gateway.composition.records.write({
      ...paid,
      executionId: 'paid-by-its-caller',
      arrivedAtMs: record.arrivedAtMs - 20 * 86_400_000,
    });
    const { totals, by_model, by_key } = (await ada.get('/overview?since=30d')).body.data;
    const nothing = (await ada.get('/overview?since=7d')).body.data.totals;
    expect([totals.byok_cost_usd, nothing.byok_cost_usd]).toEqual(['2', '0']);
    expect(Number(totals.cost_usd) - 2).toBeCloseTo(Number(nothing.cost_usd), 9);
    expect(by_model).toContainEqual(expect.objectContaining({ model: 'acme/echo', byok_cost_usd: '2' }));
    const byokOfKeys = by_key.map((one: { byok_cost_usd: string }) => one.byok_cost_usd);
    expect(byokOfKeys.filter((amount: string) => amount !== '0')).toEqual(['2']);
  });
});

describe('the calls', () => {
  it('come the newest first, each once, however small the pages are', async () => {
    const pages = (await walk(ada, '/calls?limit=2', 'before')) as { id: string; created_at: string }[][];
    const all = pages.flat();
    const whole = (await ada.get('/calls')).body;
    expect(whole.next_cursor).toBeNull();
    expect(all.map(({ id }) => id)).toEqual(whole.data.map(({ id }: { id: string }) => id));
    expect(new Set(all.map(({ id }) => id)).size).toBe(6);
    expect(pages.map((page) => page.length)).toEqual([2, 2, 2]);
    expect(all.map(({ created_at }) => created_at)).toEqual(
      all
        .map(({ created_at }) => created_at)
        .toSorted()
        .reverse(),
    );
  });

  it('are found by workspace, key, model, provider of any attempt, outcome, and tags', async () => {
    const countFound = async (query: string) => (await ada.get(`/calls?${query}`)).body.data.length;
    const publicId = parseApiKey(gateway.key)?.publicId;
    const counts = await Promise.all(
      [
        'workspace=team',
        'workspace=nobody',
        `key=${publicId}`,
        `key=${encodeURIComponent(hostile)}`,
        'model=acme/echo',
        'provider=globex',
        'outcome=failed',
        'outcome=refused',
        'code=no_available_provider',
        'code=rate_limited',
        'interface=chat-completions',
        'interface=messages',
        'session=s-1',
        'session=s-2',
        'tag=team%3Dsearch',
        'tag=team%3Dads,run%3D7',
        'tag=team%3Dads,run%3D8',
      ].map(countFound),
    );
    expect(counts).toEqual([5, 0, 5, 1, 4, 2, 2, 0, 2, 0, 6, 0, 2, 0, 1, 2, 0]);
  });

  it('come whole as CSV, whatever the filter finds, and no cell of it is a formula', async () => {
    const headers = { authorization: `Bearer ${ada.key}`, accept: 'text/csv' };
    const response = await fetch(`${gateway.url}/manage/calls?workspace=team&limit=1`, { headers });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.has('x-next-cursor')).toBe(false);
    const [head = '', ...lines] = (await response.text()).trimEnd().split('\r\n');
    expect(head).toMatch(/^created_at,id,workspace,outcome,error_code,/);
    expect(lines).toHaveLength(5);
    expect(lines.filter((line) => line.includes(`,"'=HYPERLINK(""x"")",`))).toHaveLength(3);
    expect(lines.join()).not.toMatch(/,"?[=+@]/);
    const failed = await fetch(`${gateway.url}/manage/calls?outcome=failed`, { headers });
    expect((await failed.text()).trimEnd().split('\r\n').slice(1)).toEqual([
      expect.stringContaining('"no_available_provider"'),
      expect.stringContaining('"globex status_500"'),
    ]);
  });

  it('are shown one by one with every attempt, and no prompt or answer', async () => {
    const [call] = (await ada.get('/calls?outcome=failed&limit=1')).body.data;
    const { status, body } = await ada.get(`/calls/${call.id}`);
    expect([status, body.data]).toEqual([200, call]);
    expect(call).toMatchObject({
      workspace: 'team',
      error_code: 'no_available_provider',
      attempts: [{ provider: 'globex', outcome: 'status_500', status: 500 }],
    });
    expect(JSON.stringify(body)).not.toContain('Hello');
    for (const id of ['01a20259-a9d1-7658-8559-d8e0dce60050', 'x', '%00']) {
      expect((await ada.get(`/calls/${id}`)).body.error).toBe('not_found');
    }
  });
});

describe('the catalogue', () => {
  it('shows what each provider does at each model, and what is used of its limits', async () => {
    // The provider cools for ten seconds; other tests may have taken longer than that.
    for (const _call of [1, 2]) await (await gateway.post(hello('acme/failing'))).text();
    await gateway.settled();
    const { body } = await ada.get('/providers');
    const [acme, globex] = body.data;
    expect([acme.id, globex.id, body.next_cursor]).toEqual(['acme', 'globex', null]);
    expect(acme).toMatchObject({
      status: 'enabled',
      models: [
        {
          model: 'acme/echo',
          is_cooling: false,
          limits: { rpm: { limit: 100, used: 4 }, tpm: null, tpd: { limit: 1_000_000, used: expect.any(Number) } },
        },
      ],
    });
    expect(acme.models[0].limits.tpd.used).toBeGreaterThan(0);
    expect(globex.models).toEqual([
      expect.objectContaining({
        state: 'failing',
        is_cooling: true,
        cooling_for: ['team'],
        limits: { rpm: null, tpm: null, tpd: null },
      }),
    ]);
  });

  it('shows models in the words of the gateway file, page by page', async () => {
    const pages = await walk(ada, '/models?limit=1', 'cursor');
    expect(pages.flat()).toEqual([
      expect.objectContaining({
        id: 'acme/echo',
        display_name: 'Model acme/echo',
        providers: [expect.objectContaining({ provider: 'acme', input_price_per_million: '1.00', is_cooling: false })],
      }),
      expect.objectContaining({ id: 'acme/failing' }),
      expect.objectContaining({ id: 'zeta/silent', differences: [] }),
      expect.objectContaining({ id: 'zulu/listed' }),
    ]);
  });

  it('finds models, calls, workspaces, functions and providers by a text in a name or id of theirs, and no others', async () => {
    const idsOf = async (path: string) => (await ada.get(path)).body.data.map(({ id }: { id: string }) => id);
    expect(await idsOf('/models?search=SILENT')).toEqual(['zeta/silent']);
    expect(await idsOf('/providers?search=GLOB')).toEqual(['globex']);
    expect(await idsOf('/workspaces?search=oth')).toEqual(['other']);
    expect(await idsOf('/functions?search=LABEL')).toEqual(['label']);
    const calls = (await ada.get('/calls?search=FAILING')).body.data as { model_asked: string }[];
    expect(new Set(calls.map(({ model_asked }) => model_asked))).toEqual(new Set(['acme/failing']));
    expect(await idsOf('/calls?search=no-such-text')).toEqual([]);
  });

  it('shows prices, tiers, bounds, features and interfaces of a model, and where the model list differs', async () => {
    const { body, response } = await ada.get('/models?limit=200');
    expect(await differencesOf(operationOf('GET', '/v1/manage/models'), response)).toEqual([]);
    const model = body.data.find(({ id }: { id: string }) => id === 'zulu/listed');
    expect(model).toMatchObject({
      context_length: 128_000,
      modalities: ['text', 'image'],
      providers: [
        {
          provider: 'zulu',
          upstream_model: 'gpt-5.4',
          cached_input_price_per_million: '0.30',
          price_tiers: [{ above_prompt_tokens: 272_000, input_price_per_million: '5.00' }],
          max_output_tokens: 4_096,
          apis: ['chat-completions', 'responses'],
          supported_params: { tools: true, json_schema: true },
          streaming: true,
        },
      ],
    });
    const [entry] = model.providers;
    expect(entry.written).toContain('input_price_per_million');
    expect(entry.written).not.toContain('price_tiers');
    expect(model.differences).toContainEqual({
      provider: 'zulu',
      member: 'cached_input_price_per_million',
      stored: '0.30',
      listed: '0.25',
      written_in_file: true,
    });
    expect(model.differences).toContainEqual(
      expect.objectContaining({ provider: null, member: 'modalities', listed: ['text', 'image', 'file'] }),
    );
  });

  it('takes the model list over for the models that are named, and tells what it took', async () => {
    expect((await ada.send('POST', '/models/update', { models: ['zulu/lister'] })).body).toMatchObject({
      error: 'not_found',
      message: expect.stringContaining('Did you mean "zulu/listed"?'),
    });
    const update = () => ada.send('POST', '/models/update', { models: ['zulu/listed'] });
    const [change] = await changesOf(async () => {
      const { body, response } = await update();
      expect(await differencesOf(operationOf('POST', '/v1/manage/models/update'), response)).toEqual([]);
      expect(body.data.models).toEqual(['zulu/listed']);
      expect(body.data.differences).toContainEqual(
        expect.objectContaining({ member: 'cached_input_price_per_million', stored: '0.30', listed: '0.25' }),
      );
    });
    expect(change).toMatchObject({
      change: expect.stringMatching(/^model list of .* taken over$/),
      change_target: 'zulu/listed',
    });
    const { body } = await ada.get('/models?limit=200');
    const model = body.data.find(({ id }: { id: string }) => id === 'zulu/listed');
    expect([model.differences, model.providers[0].cached_input_price_per_million]).toEqual([[], '0.25']);
    expect(await changesOf(update)).toEqual([]);
  });
});

describe('the keys', () => {
  it('are made with their limits, shown with their text once, and usable at once', async () => {
    let ids: Record<string, string> = {};
    const wantedKey = {
      workspace: 'team',
      name: 'made',
      rpm: 5,
      spend_limit_usd: '2.50',
      spend_limit_reset: 'daily',
      expires_at: '2099-01-01',
      models: ['acme/echo'],
      tags: { team: 'search' },
    };
    const changes = await changesOf(async () => {
      ids = (await ada.send('POST', '/keys', wantedKey)).body.data;
    });
    const { key = '', public_id: publicId = '', ...document } = ids;
    expect(parseApiKey(key)?.publicId).toBe(publicId);
    expect(document).toMatchObject({
      ...wantedKey,
      spend_limit_usd: '2.5',
      expires_at: '2099-01-01T00:00:00.000Z',
      status: 'active',
      spent_usd: '0',
      held_usd: '0',
    });
    expect(changes).toEqual([
      expect.objectContaining({
        operator_name: 'ada',
        change: 'key created',
        change_target: `team/${publicId}`,
        route: '/v1/manage/keys',
        status: 200,
      }),
    ]);
    const keyList = (await ada.get('/keys?workspace=team')).body.data;
    expect(keyList).toContainEqual({ public_id: publicId, ...document });
    expect(JSON.stringify(keyList)).not.toContain('sk-gw-');
    const authorization = { authorization: `Bearer ${key}` };
    expect((await gateway.post(hello('acme/echo'), authorization)).status).toBe(200);
    // A change and a revocation count from the next request on.
    const change = await ada.send('PATCH', `/keys/${publicId}`, {
      rpm: null,
      spend_limit_usd: '0.000001',
      expires_at: null,
    });
    expect(change.body.data).toMatchObject({
      rpm: null,
      spend_limit_usd: '0.000001',
      expires_at: null,
      name: 'made',
      models: ['acme/echo'],
    });
    expect((await gateway.post(hello('acme/echo'), authorization)).status).toBe(402);
    const revocation = await changesOf(() => ada.send('PATCH', `/keys/${publicId}`, { status: 'revoked' }));
    expect(revocation).toEqual([expect.objectContaining({ operator_name: 'ada', change: 'key revoked' })]);
    expect((await gateway.post(hello('acme/echo'), authorization)).status).toBe(401);
    // The request changes nothing, so no line is logged.
    expect(await changesOf(() => ada.send('PATCH', `/keys/${publicId}`, { status: 'revoked' }))).toEqual([]);
    const back = await ada.send('PATCH', `/keys/${publicId}`, { status: 'active', spend_limit_usd: null });
    // Spending counts before there is a limit, and after.
    const { spent_usd: spentSoFar } = change.body.data as { spent_usd: string };
    expect(back.body.data).toMatchObject({ status: 'active', spend_limit_usd: null, spent_usd: spentSoFar });
    expect(Number(spentSoFar)).toBeGreaterThan(0);
    expect((await gateway.post(hello('acme/echo'), authorization)).status).toBe(200);
  });

  const keyOf = (more: object) => ({ workspace: 'team', name: 'n', ...more });
  const nineTags = Object.fromEntries([...'abcdefghi'].map((name) => [name, 'x']));
  it.each<[string, unknown, ...([] | [number, string])]>([
    ['', 'x'],
    ['colour', keyOf({ colour: 1 })],
    ['spend_limit_usd', keyOf({ spend_limit_usd: 2 })],
    ['rpm', keyOf({ rpm: 0 })],
    ['expires_at: the end of the key is not in the future', keyOf({ expires_at: '2001-01-01' })],
    ['expires_at', keyOf({ expires_at: '2030-13-01' })],
    ['expires_at', keyOf({ expires_at: '2030-02-31' })],
    ['name', keyOf({ name: 'n\ud800' })],
    ['models[1]: there is no model acme/none', keyOf({ models: ['acme/echo', 'acme/none'] })],
    ['guardrails[0]: there is no guardrail lost', keyOf({ guardrails: ['lost'] })],
    ['rpm: must be at least 1; null means no limit; tpm: must be', keyOf({ rpm: 0, tpm: 'x' })],
    ['colour: is no member that the gateway knows; size: is no', keyOf({ colour: 1, size: 2 })],
    ['tags', keyOf({ tags: { Team: 'x' } })],
    ['at most 8 tags', keyOf({ tags: nineTags })],
    ['name: first is taken', keyOf({ name: 'first' })],
    ['nobody', keyOf({ workspace: 'nobody' }), 404, 'not_found'],
    ['64 KiB', keyOf({ name: 'x'.repeat(70_000) }), 413, 'request_too_large'],
  ])(
    'are not made, and nothing is stored, where the answer says why: %s',
    async (words, body, status = 400, code = 'invalid_request') => {
      const before = (await ada.get('/keys')).body.data.length;
      const changes = await changesOf(async () => {
        const answer = await ada.send('POST', '/keys', body);
        expect([answer.status, answer.body.error, answer.body.message]).toEqual([
          status,
          code,
          expect.stringContaining(words),
        ]);
      });
      expect(changes).toEqual([]);
      expect((await ada.get('/keys')).body.data.length).toBe(before);
    },
  );

  it('are not changed by an empty change, a wrong status or for an unknown id', async () => {
    const publicId = parseApiKey(otherKey)?.publicId;
    expect((await ada.send('PATCH', `/keys/${publicId}`, {})).status).toBe(400);
    expect((await ada.send('PATCH', `/keys/${publicId}`, { status: 'gone' })).status).toBe(400);
    const unknown = await ada.send('PATCH', `/keys/${publicId}`, { colour: 1 });
    expect(unknown.body.message).toBe('colour: is no member that the gateway knows');
    expect((await ada.send('PATCH', '/keys/0000000000000000', { rpm: 1 })).status).toBe(404);
    // An operator's key cannot be changed on this route.
    expect((await ada.send('PATCH', `/keys/${parseApiKey(ada.key)?.publicId}`, { status: 'revoked' })).status).toBe(
      404,
    );
    expect((await ada.get('/keys?workspace=other')).body.data).toContainEqual(
      expect.objectContaining({ name: hostile, rpm: null, status: 'active' }),
    );
  });

  it('are changed in all that is asked or, if a part of it is refused, in nothing', async () => {
    const make = async () => (await ada.send('POST', '/keys', { workspace: 'team', name: 'twin' })).body.data.public_id;
    const revokedKey = await make();
    await ada.send('PATCH', `/keys/${revokedKey}`, { status: 'revoked' });
    const active = await make();
    const shownKeys = async () =>
      (await ada.get('/keys?workspace=team')).body.data.find(
        (key: { public_id: string }) => key.public_id === revokedKey,
      );
    const before = await shownKeys();
    const changes = await changesOf(async () => {
      const answer = await ada.send('PATCH', `/keys/${revokedKey}`, { status: 'active', rpm: 7 });
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(active)]);
    });
    expect([await shownKeys(), changes]).toEqual([before, []]);
    // With another name the key may become active again, in the same change.
    const keyChanges = await changesOf(() =>
      ada.send('PATCH', `/keys/${revokedKey}`, { status: 'active', rpm: 7, name: 'other twin' }),
    );
    expect(keyChanges).toEqual([expect.objectContaining({ change: 'key activated', operator_name: 'ada' })]);
    expect(await shownKeys()).toEqual({ ...before, status: 'active', state: 'active', rpm: 7, name: 'other twin' });
  });

  it('have a state beside their status: active, ending, expired or revoked', async () => {
    const make = async (path: string, body: object) => (await ada.send('POST', path, body)).body.data.public_id;
    const former = await make('/keys', { workspace: 'team', name: 'rotated' });
    const active = await make(`/keys/${former}/rotate`, { grace: '1h' });
    const revokedKey = await make('/keys', { workspace: 'team', name: 'to-revoke' });
    await ada.send('PATCH', `/keys/${revokedKey}`, { status: 'revoked' });
    const expired = await make('/keys', { workspace: 'team', name: 'to-expire' });
    const record = await gateway.composition.keys.read(expired);
    if (record === undefined) throw new Error('the key must be stored');
    await gateway.composition.keys.write({ ...record, expiresAtMs: 1 });
    const { data } = (await ada.get('/keys?workspace=team')).body;
    const statesOf = (id: string) => {
      const key = data.find(({ public_id }: { public_id: string }) => public_id === id);
      return [key.status, key.state];
    };
    expect([former, active, revokedKey, expired].map(statesOf)).toEqual([
      ['active', 'ending'],
      ['active', 'active'],
      ['revoked', 'revoked'],
      ['active', 'expired'],
    ]);
  });

  it('are found by a text in a name, an id or a tag, in any case, page by page, and those that have ended are left out if asked', async () => {
    const creations = await Promise.all(
      ['Nightly Batch', 'nightly-report', 'daily'].map((name) =>
        ada.send('POST', '/keys', { workspace: 'team', name, tags: { squad: `of-${name.slice(0, 5)}` } }),
      ),
    );
    const pages = await walk(ada, '/keys?search=NIGHTLY&limit=1', 'cursor');
    const namesOf = (keys: readonly unknown[]) => (keys as { name: string }[]).map(({ name }) => name).toSorted();
    expect([pages.length, namesOf(pages.flat())]).toEqual([2, ['Nightly Batch', 'nightly-report']]);
    const namesFound = async (search: string) => namesOf((await ada.get(`/keys?${search}`)).body.data);
    expect(await namesFound('search=squad%3Dof-daily')).toEqual(['daily']);
    const [batch] = creations.map(({ body }) => body.data.public_id);
    expect(await namesFound(`search=${batch}`)).toEqual(['Nightly Batch']);
    expect(await namesFound('search=no-such-text')).toEqual([]);
    await ada.send('PATCH', `/keys/${batch}`, { status: 'revoked' });
    expect(await namesFound('search=nightly&usable=true')).toEqual(['nightly-report']);
    expect((await ada.get('/keys?usable=false')).status).toBe(400);
  });

  it('are walked page by page, each once, also those with names of markup', async () => {
    const pages = (await walk(ada, '/keys?limit=1', 'cursor')) as { name: string; public_id: string }[][];
    const names = pages.flat().map(({ name }) => name);
    expect(names).toContain(hostile);
    expect(new Set(pages.flat().map(({ public_id }) => public_id)).size).toBe(names.length);
    expect((await ada.get('/keys')).body.data.length).toBe(names.length);
  });
});

describe('the credit of workspaces', () => {
  const creditOf = async (id: string) =>
    (await ada.get('/workspaces')).body.data.find((one: { id: string }) => one.id === id);

  it('grows once per id, is logged in one line, and another amount under the id is a conflict that changes nothing', async () => {
    const before = await creditOf('other');
    const add = (amount_usd: string) => ada.send('POST', '/workspaces/other/credits', { amount_usd, id: 'invoice-1' });
    const [first, ...more] = await changesOf(async () => {
      const answer = await add('25.00');
      expect(answer.body.data).toMatchObject({
        id: 'invoice-1',
        amount_usd: '25',
        change: 'added',
        workspace: { granted_usd: '26.1' },
      });
    });
    expect([first, more]).toEqual([
      expect.objectContaining({
        operator_name: 'ada',
        change: 'credit added: 25 USD, id invoice-1',
        change_target: 'other',
      }),
      [],
    ]);
    expect(await changesOf(async () => expect((await add('25')).body.data.change).toBe('unchanged'))).toEqual([]);
    const conflict = await add('26');
    expect([conflict.status, conflict.body.error]).toEqual([409, 'idempotency_conflict']);
    const after = await creditOf('other');
    expect([before.granted_usd, after.granted_usd]).toEqual(['1.1', '26.1']);
  });

  it('is not taken if calls hold it or have spent it: 402, and nothing is taken', async () => {
    const before = await creditOf('team');
    const answer = await ada.send('POST', '/workspaces/team/credits', { amount_usd: '-100', id: 'refund-1' });
    expect([answer.status, answer.body.error]).toEqual([402, 'PAYMENT_REQUIRED']);
    expect(answer.body.message).toContain(before.available_usd);
    expect(await creditOf('team')).toEqual(before);
    const less = await ada.send('POST', '/workspaces/team/credits', { amount_usd: '-99', id: 'refund-1' });
    expect(less.body.data.change).toBe('added');
  });

  it.each<[unknown, number]>([
    [{ amount_usd: 5, id: 'a' }, 400],
    [{ amount_usd: '0', id: 'a' }, 400],
    [{ amount_usd: '1e3', id: 'a' }, 400],
    [{ amount_usd: '5' }, 400],
    [{ amount_usd: '5', id: '../a' }, 400],
  ])('is not changed by %j', async (body, status) => {
    expect(
      await changesOf(async () =>
        expect((await ada.send('POST', '/workspaces/team/credits', body)).status).toBe(status),
      ),
    ).toEqual([]);
  });

  it('of an unknown workspace is not_found', async () => {
    const { body } = await ada.send('POST', '/workspaces/nobody/credits', { amount_usd: '5', id: 'a' });
    expect(body.error).toBe('not_found');
  });
});

describe('the functions', () => {
  const change = (what: string, body?: unknown) => ada.send('POST', `/functions/team/label/${what}`, body);
  const call = async () =>
    (await gateway.post({ model: 'gw/function/label', messages: [{ role: 'user', content: 'x' }] })).json() as Promise<{
      gw?: { revision_id: string };
    }>;

  it('are disabled, enabled and get another revision, each logged in one line', async () => {
    const changes = await changesOf(async () => {
      expect((await change('disable')).body.data).toMatchObject({ id: 'label', status: 'disabled', active: 'r1' });
      expect((await change('enable')).body.data).toMatchObject({ status: 'enabled' });
      expect((await change('activate', { revision: 'r2' })).body.data).toMatchObject({
        active: 'r2',
        revisions: [expect.objectContaining({ id: 'r1' }), expect.objectContaining({ id: 'r2', state: 'activated' })],
      });
    });
    expect(changes.map((line) => [line.operator_name, line.change, line.change_target])).toEqual([
      ['ada', 'function disabled', 'team/label'],
      ['ada', 'function enabled', 'team/label'],
      ['ada', 'revision r2 activated', 'team/label'],
    ]);
    expect((await ada.get('/functions?workspace=team')).body.data).toEqual([
      expect.objectContaining({ workspace: 'team', id: 'label', active: 'r2' }),
    ]);
    expect((await call()).gw?.revision_id).toBe('r2');
  });

  it('are left as they are by what cannot be done', async () => {
    const changes = await changesOf(async () => {
      expect((await change('activate', { revision: 'r9' })).status).toBe(400);
      expect((await change('activate', {})).status).toBe(400);
      expect((await change('activate')).status).toBe(400);
      expect((await ada.send('POST', '/functions/team/none/disable')).status).toBe(404);
      expect((await ada.send('POST', '/functions/team/%3Cb%3E/disable')).status).toBe(404);
    });
    expect(changes).toEqual([]);
    expect((await ada.get('/functions')).body.data[0]).toMatchObject({ active: 'r2', status: 'enabled' });
  });
});

// This test is the last one, because its provider is silent until the gateway stops.
describe('the credit of a workspace with a running call', () => {
  const creditOf = async (id: string) =>
    (await ada.get('/workspaces')).body.data.find((one: { id: string }) => one.id === id);

  it('is not taken while a running call holds it: 402 with what is left, and the hold stays', async () => {
    const leaving = new AbortController();
    const before = await creditOf('other');
    const authorization = { authorization: `Bearer ${otherKey}` };
    const running = gateway.post(hello('zeta/silent'), authorization, leaving.signal).catch(() => undefined);
    let reservedBefore = before;
    for (let looks = 0; reservedBefore.held_usd === '0' && looks < 500; looks += 1)
      reservedBefore = await creditOf('other');
    expect(reservedBefore.held_usd).not.toBe('0');
    const body = { amount_usd: `-${before.available_usd}`, id: 'refund-held' };
    const answer = await ada.send('POST', '/workspaces/other/credits', body);
    expect([answer.status, answer.body.error]).toEqual([402, 'PAYMENT_REQUIRED']);
    expect(answer.body.message).toContain(reservedBefore.available_usd);
    expect(await creditOf('other')).toEqual(reservedBefore);
    leaving.abort();
    await running;
  });
});
