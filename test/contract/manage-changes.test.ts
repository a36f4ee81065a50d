// Changes by operators through the management interface, other than keys and credit: workspaces, providers, stored
// functions.
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type OperatorRequests, operatorOf, walk } from '../support/operator-requests.ts';
import { differencesOf, operationOf } from './api-description.ts';

let gateway: Harness;
let ada: OperatorRequests;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
      'acme/other': [{ provider: 'globex', upstream: 'echo' }],
      'bolt/other': [{ provider: 'acme', upstream: 'echo' }],
    },
    workspace: { functions: [promptFunction('label', 'acme/echo')] },
  });
  ada = await operatorOf(gateway, 'ada');
});
afterAll(() => gateway.stop());

describe('workspaces', () => {
  it('are made with their credit and limits, once, and work at once', async () => {
    const creation = await ada.send('POST', '/workspaces', { id: 'search', credit_usd: '5', models: ['acme/echo'] });
    expect(await differencesOf(operationOf('POST', '/v1/manage/workspaces'), creation.response)).toEqual([]);
    expect(creation.body.data).toMatchObject({
      id: 'search',
      available_usd: '5',
      models: ['acme/echo'],
      member_keys: null,
    });
    const again = await ada.send('POST', '/workspaces', { id: 'search', credit_usd: '9' });
    expect([again.status, again.body.error]).toEqual([400, 'invalid_request']);
    expect((await gateway.credit('search')).granted).toBe(5_000_000_000_000n);
    const key = (await ada.send('POST', '/keys', { workspace: 'search', name: 'first' })).body.data.key;
    const headers = { authorization: `Bearer ${key}` };
    expect((await gateway.post(hello('acme/echo'), headers)).status).toBe(200);
    expect((await gateway.post(hello('acme/other'), headers)).status).toBe(400);
  });

  it('and their keys take models by their bare names, looked for among those of the workspace, and show ids', async () => {
    const creation = await ada.send('POST', '/workspaces', {
      id: 'bare',
      credit_usd: '5',
      models: ['echo', 'bolt/other'],
    });
    expect(creation.body.data.models).toEqual(['acme/echo', 'bolt/other']);
    const key = (await ada.send('POST', '/keys', { workspace: 'bare', name: 'first', models: ['other'] })).body.data;
    expect(key.models).toEqual(['bolt/other']);
    const headers = { authorization: `Bearer ${key.key}` };
    expect((await gateway.post(hello('other'), headers)).headers.get('x-gw-model')).toBe('bolt/other');
    const change = await ada.send('PATCH', `/keys/${key.public_id}`, { models: ['echo', 'other'] });
    expect(change.body.data.models).toEqual(['acme/echo', 'bolt/other']);
    const { revisions } = promptFunction('label', 'other') as { revisions: readonly object[] };
    const revision = { ...revisions[0], id: 'bare', state: undefined };
    const publish = (workspace: string) =>
      ada.send('POST', `/functions/${workspace}/bare/revisions`, { kind: 'prompt', revision });
    expect((await publish('bare')).status).toBe(200);
    for (const { status, body } of [
      await ada.send('PATCH', '/workspaces/bare', { models: ['other'] }),
      await ada.send('POST', '/keys', { workspace: 'team', name: 'bare', models: ['other'] }),
      await publish('team'),
    ]) {
      expect([status, body.message]).toEqual([400, expect.stringMatching(/several models.*acme\/other.*bolt\/other/)]);
    }
    expect((await ada.get('/workspaces')).body.data).toContainEqual(
      expect.objectContaining({ id: 'bare', models: ['acme/echo', 'bolt/other'] }),
    );
  });

  it.each([
    [{}, 'change something'],
    [{ models: ['acme/none'] }, 'acme/none'],
    [{ spend_limit_usd: 5 }, 'spend_limit_usd'],
    [{ credit_usd: '5' }, 'credit_usd'],
    [{ data_policy: { zdr: 'yes' } }, 'data_policy.zdr'],
    [{ member_keys: { max: 0 } }, 'member_keys.max'],
    [{ content_log: { keep: '2d' } }, 'content_log.keep'],
    [{ content_log: { share: 2 } }, 'content_log.share'],
  ])('are not changed by what is wrong: %j', async (body, part) => {
    const before = (await ada.get('/workspaces')).body.data;
    const { status, body: answer } = await ada.send('PATCH', '/workspaces/team', body);
    expect([status, answer.error, answer.message]).toEqual([400, 'invalid_request', expect.stringContaining(part)]);
    expect((await ada.get('/workspaces')).body.data).toEqual(before);
  });

  it('keep every change of different fields that come at the same moment', async () => {
    const changes = [
      { spend_limit_usd: '50' },
      { function_concurrency: 7 },
      { concurrency: 9 },
      { data_policy: { zdr: true } },
      { member_keys: { max: 3, expires_in: '30d' } },
      { features: { byok: true } },
      { models: ['acme/echo', 'acme/other'] },
    ];
    const answers = await Promise.all(changes.map((change) => ada.send('PATCH', '/workspaces/team', change)));
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
    const [team] = (await ada.get('/workspaces')).body.data.filter(({ id }: { id: string }) => id === 'team');
    expect(team).toMatchObject({
      spend_limit_usd: '50',
      function_concurrency: 7,
      concurrency: 9,
      data_policy: { zdr: true },
      member_keys: { max: 3, rpm: null, expires_in: '30d' },
      features: { byok: true, presets: false },
      models: ['acme/echo', 'acme/other'],
    });
    const reverted = await ada.send('PATCH', '/workspaces/team', {
      concurrency: null,
      data_policy: { zdr: null },
      member_keys: null,
      models: 'all',
    });
    expect(reverted.body.data).toMatchObject({
      concurrency: null,
      member_keys: null,
      models: 'all',
    });
    expect(reverted.body.data.data_policy).toEqual({});
  });

  it('tell what was granted, added and taken away, the first grant last, page by page, and it adds up', async () => {
    for (const [id, amount_usd] of [
      ['a', '1'],
      ['b', '2.5'],
      ['c', '-0.5'],
    ] as const) {
      expect((await ada.send('POST', '/workspaces/team/credits', { id, amount_usd })).status).toBe(200);
    }
    const { body: whole, response } = await ada.get('/workspaces/team/credits');
    expect(await differencesOf(operationOf('GET', '/v1/manage/workspaces/{id}/credits'), response)).toEqual([]);
    const pages = (await walk(ada, '/workspaces/team/credits?limit=2', 'cursor')) as {
      id: string | null;
      amount_usd: string;
      time: string | null;
    }[][];
    const first = pages.flat().at(-1);
    expect(pages.flat()).toEqual(whole.data);
    const amounts = pages.flat().map(({ id, amount_usd }) => `${id} ${amount_usd}`);
    expect(amounts.slice(0, -1).toSorted()).toEqual(['a 1', 'b 2.5', 'c -0.5']);
    expect(first).toEqual({ id: null, amount_usd: '100', time: expect.stringMatching(/Z$/) });
    expect((await ada.get('/workspaces/team')).body.data.granted_usd).toBe('103');
    const creation = await ada.send('POST', '/workspaces', { id: 'empty' });
    expect(creation.status).toBe(200);
    expect((await ada.get('/workspaces/empty/credits')).body.data).toMatchObject([{ id: null, amount_usd: '0' }]);
    expect((await ada.get('/workspaces/none/credits')).status).toBe(404);
  });
});

describe('changes that come at the same moment', () => {
  it('of credit: twelve additions all count, and each once', async () => {
    const { granted } = await gateway.credit('team');
    const ids = Array.from({ length: 12 }, (_none, at) => `invoice-${at}`);
    const add = (id: string) => ada.send('POST', '/workspaces/team/credits', { id, amount_usd: '0.25' });
    const answers = await Promise.all([...ids, ...ids.slice(0, 2)].map(add));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await gateway.credit('team')).granted - granted).toBe(3_000_000_000_000n);
  });
});

describe('providers', () => {
  it('are not switched by a dry run, which names the models without another provider', async () => {
    const statusOf = async () =>
      (await ada.get('/providers')).body.data.find(({ id }: { id: string }) => id === 'globex').status;
    const dry = await ada.send('POST', '/providers/globex/disable?dry_run=true');
    expect(dry.body.data).toEqual({ id: 'globex', status: 'disabled', models_without_provider: ['acme/other'] });
    expect(await statusOf()).toBe('enabled');
    expect((await ada.send('POST', '/providers/globex/disable?dry_run=perhaps')).status).toBe(400);
    expect(await statusOf()).toBe('enabled');
  });

  it('are switched off and on; models without a provider are then named', async () => {
    const off = await ada.send('POST', '/providers/globex/disable');
    expect(off.body.data).toEqual({ id: 'globex', status: 'disabled', models_without_provider: ['acme/other'] });
    const provider = (await ada.get('/providers')).body.data.find(({ id }: { id: string }) => id === 'globex');
    expect(provider.status).toBe('disabled');
    await ada.send('POST', '/providers/globex/enable?dry_run=true');
    const [same] = (await ada.get('/providers?search=globex')).body.data;
    expect(same.status).toBe('disabled');
    const on = await ada.send('POST', '/providers/globex/enable');
    expect(await differencesOf(operationOf('POST', '/v1/manage/providers/{id}/enable'), on.response)).toEqual([]);
    expect((await ada.send('POST', '/providers/none/disable')).status).toBe(404);
  });
});

const revisionOf = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  model: 'acme/echo',
  messages: [{ role: 'user', content: 'Say {{input}}' }],
  ...more,
});
const publish = (body: Record<string, unknown>, id = 'label') =>
  ada.send('POST', `/functions/team/${id}/revisions`, { kind: 'prompt', ...body });

describe('stored functions', () => {
  it('show what their revisions hold', async () => {
    const { body, response } = await ada.get('/functions/team/label');
    expect(await differencesOf(operationOf('GET', '/v1/manage/functions/{workspace}/{id}'), response)).toEqual([]);
    expect(body.data.revisions[0].content).toMatchObject({ messages: [{ role: 'user', content: '{{input}}' }] });
    expect(body.data.revisions[0].content).not.toHaveProperty('kind');
    expect(parse(body.data.revisions[0].text)).toEqual({ kind: 'prompt', ...body.data.revisions[0].content });
  });

  it('are published by the text that is shown of a revision, and a text that is wrong is refused with its place', async () => {
    const { text } = (await ada.get('/functions/team/label')).body.data.revisions[0];
    const draft = await publish({ revision: text, id: 'again' }, 'copied');
    expect([draft.status, draft.body.data?.revisions]).toEqual([200, [expect.objectContaining({ id: 'again' })]]);
    expect((await ada.get('/functions/team/copied')).body.data.revisions[0].text).toBe(text);
    const refusals: [string, RegExp][] = [
      [`${text}mesages: []\n`, /revision\.mesages: is not known here.*\(line \d+\)/],
      ['{', /revision: line 1/],
      ['[]', /revision: must be a mapping/],
    ];
    for (const [revision, message] of refusals) {
      const { status, body } = await publish({ revision, id: 'wrong' }, 'copied');
      expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
    }
    expect((await ada.get('/functions/team/copied')).body.data.revisions).toHaveLength(1);
  });

  it('get a revision as a draft, or one that serves from then on; an activated one never changes', async () => {
    const draft = await publish({ revision: revisionOf('r2') });
    expect(draft.body.data).toMatchObject({ active: 'r1', revisions: [{ id: 'r1' }, { id: 'r2', state: 'draft' }] });
    const live = await publish({ revision: revisionOf('r3'), activate: true });
    expect(live.body.data).toMatchObject({ active: 'r3', revisions: [{}, {}, { id: 'r3', state: 'activated' }] });
    const answer = await gateway.post(hello('gw/function/label'));
    expect(((await answer.json()) as { gw: { revision_id: string } }).gw.revision_id).toBe('r3');
    const other = await publish({ revision: revisionOf('r3', { model: 'acme/other' }) });
    expect([other.status, other.body.message]).toEqual([400, expect.stringContaining('activated')]);
    const publication = await publish({ revision: revisionOf('r1'), activate: true }, 'fresh');
    expect(publication.body.data).toMatchObject({ id: 'fresh', active: 'r1', status: 'enabled' });
  });

  it('with cases serve only after these were passed, or if they are skipped; else nothing is stored', async () => {
    const revision = revisionOf('judged', { cases: [{ input: 'a', expect: { contains: 'a' } }] });
    const before = (await ada.get('/functions/team/label')).body.data;
    const refusal = await publish({ revision, activate: true });
    expect([refusal.status, refusal.body.message]).toEqual([400, expect.stringContaining('is not qualified')]);
    expect((await ada.get('/functions/team/label')).body.data).toEqual(before);
    const skipped = await publish({ revision, activate: true, skip_cases: true }, 'skipped');
    expect(skipped.body.data).toMatchObject({
      active: 'judged',
      revisions: [{ state: 'activated', qualified_at: null }],
    });
  });

  it.each([
    [{ revision: { id: 'x' } }, 'revision.model'],
    [{ revision: revisionOf('x', { colour: 1 }) }, 'revision.colour'],
    [{ revision: revisionOf('x', { messages: [] }) }, 'revision.messages'],
    [
      {
        revision: revisionOf('x', {
          response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'nothing' } } },
        }),
      },
      'revisions[0].response_format',
    ],
    [{ revision: revisionOf('x', { model: 'acme/none' }) }, 'revision.model'],
    [{ revision: revisionOf('x', { fallback_models: ['acme/none'] }) }, 'revision.fallback_models[0]'],
    [
      { revision: revisionOf('x', { messages: [{ role: 'user', content: '{{input.city}}' }] }) },
      'revision.messages[0].content',
    ],
    [
      { revision: revisionOf('x', { cases: [{ input: { a: 1 }, expect: { contains: 'a' } }] }) },
      'revision.cases[0].input',
    ],
    [{ revision: [] }, 'revision'],
    [{ kind: 'workflow', revision: revisionOf('x') }, 'revision'],
  ])('refuse a revision that no call could use, with the path, and keep nothing of it: %j', async (body, path) => {
    const before = (await ada.get('/functions/team/label')).body.data;
    const { status, body: answer } = await publish(body);
    expect([status, answer.error, answer.message]).toEqual([400, 'invalid_request', expect.stringContaining(path)]);
    expect((await ada.get('/functions/team/label')).body.data).toEqual(before);
  });

  it('are qualified once the answers to all cases are right: the interface calls no model itself', async () => {
    const cases = [
      { input: 'yes', expect: { contains: 'Say yes' } },
      { input: 'no', expect: { contains: 'Say no' } },
    ];
    await publish({ revision: revisionOf('r4', { cases }) });
    gateway.simulator.clear();
    const judge = (answers: unknown) => ada.send('POST', '/functions/team/label/cases', { revision: 'r4', answers });
    const judgement = await judge([]);
    expect(
      await differencesOf(operationOf('POST', '/v1/manage/functions/{workspace}/{id}/cases'), judgement.response),
    ).toEqual([]);
    const calls = judgement.body.data.cases.flatMap(({ calls: some }: { calls: unknown[] }) => some) as {
      call: string;
      body: { model: string };
    }[];
    expect([calls.length, judgement.body.data.is_qualified, gateway.simulator.calls]).toEqual([2, false, []]);
    const wrong = await judge(calls.map(({ call }) => ({ call, text: 'Say yes' })));
    expect(wrong.body.data.cases.map(({ state }: { state: string }) => state)).toEqual(['passed', 'failed']);
    expect(wrong.body.data.is_qualified).toBe(false);
    // A call that failed and a call without a text fail only their own cases.
    const [first, second] = calls.map(({ call }) => call);
    const failed = await judge([{ call: first, error: 'the model is busy' }, { call: second }]);
    expect(failed.body.data).toMatchObject({
      is_qualified: false,
      cases: [
        { state: 'failed', problem: 'the model is busy', calls: [] },
        { state: 'failed', answer: null, calls: [] },
      ],
    });
    const answers = await Promise.all(
      calls.map(async ({ call, body }) => {
        const answer = (await (await gateway.post(body)).json()) as { choices: { message: { content: string } }[] };
        return { call, text: answer.choices[0]?.message.content };
      }),
    );
    expect((await judge(answers)).body.data).toMatchObject({
      is_qualified: true,
      cases: [{ state: 'passed' }, { state: 'passed' }],
    });
    const revision = (await ada.get('/functions/team/label')).body.data.revisions.find(
      ({ id }: { id: string }) => id === 'r4',
    );
    expect(revision.qualified_at).toMatch(/^20/);
  });
});
