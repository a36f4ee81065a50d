// The whole configuration through the management interface: read, tried, replaced, and refused if another operator was
// faster.
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { createCatalogueStore } from '../../shared/configuration/catalogue/index.ts';
import { exportGatewayFile, gatewayFileText } from '../../shared/configuration/gateway-file/index.ts';
import { createKeyStore } from '../../shared/configuration/keys/index.ts';
import { createWorkspaceStore } from '../../shared/configuration/workspaces/index.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { asOperator, type OperatorRequests, operatorOf } from '../support/operator-requests.ts';
import { differencesOf, operationOf } from './api-description.ts';

// biome-ignore lint/suspicious/noExplicitAny: a gateway file, of which each test changes a field.
type File = any;

let gateway: Harness;
let ada: OperatorRequests;
let etag: string;
let text: string;
let file: File;

beforeAll(async () => {
  gateway = await startHarness({
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
      'acme/other': [{ provider: 'acme', upstream: 'echo' }],
    },
    workspace: { functions: [promptFunction('label', 'acme/echo')] },
    moreWorkspaces: [{ id: 'other', credit_usd: '1' }],
    access: [{ email: 'vera@example.com', role: 'viewer', workspaces: ['team'] }],
  });
  ada = await operatorOf(gateway, 'ada');
});
afterAll(() => gateway.stop());

const read = async (operator = ada) => {
  const { response, body } = await operator.get('/configuration');
  return { etag: response.headers.get('etag') ?? '', text: body as string };
};
beforeEach(async () => {
  ({ etag, text } = await read());
  file = parse(text);
});
const replace = (body: unknown, match: string | undefined = etag, query = '', operator = ada) =>
  operator.send('PUT', `/configuration${query}`, body, match === undefined ? {} : { 'if-match': match });
const team = (from: File = file): File => from.workspaces.find(({ id }: { id: string }) => id === 'team');
const changesSince = (at: number) =>
  gateway.logLines
    .slice(at)
    .map((line) => JSON.parse(line))
    .filter(({ change }) => change !== undefined);

describe('the configuration', () => {
  it('is read as the command line exports it, without a secret, as YAML or as JSON, under one tag', async () => {
    const { composition } = gateway;
    const exportedFile = await exportGatewayFile(composition, await composition.catalogues.read());
    expect(text).toBe(gatewayFileText(exportedFile.file));
    expect(text).not.toContain(gateway.key);
    const { response } = await ada.get('/configuration');
    expect(response.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    const asJson = await ada.send('GET', '/configuration', undefined, { accept: 'application/json' });
    expect(asJson.body.data).toEqual(file);
    expect(asJson.response.headers.get('etag')).toBe(etag);
    expect(await differencesOf(operationOf('GET', '/v1/manage/configuration'), asJson.response)).toEqual([]);
  });

  it('gets another tag by each change of what it holds, and keeps it while nothing changes', async () => {
    const [key] = (await ada.get('/keys')).body.data;
    const { access } = gateway.composition;
    const rules = await access.read();
    const changes: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['key', () => ada.send('PATCH', `/keys/${key.public_id}`, { rpm: 77 })],
      ['workspace', () => ada.send('PATCH', '/workspaces/other', { concurrency: 3 })],
      ['provider', () => ada.send('POST', '/providers/acme/disable')],
      ['provider again', () => ada.send('POST', '/providers/acme/enable')],
      ['function', () => ada.send('POST', '/functions/team/label/disable')],
      ['function again', () => ada.send('POST', '/functions/team/label/enable')],
      ['access', () => access.write([...rules, { email: 'x@example.com', role: 'viewer', workspaces: 'all' }])],
      ['access again', () => access.write(rules)],
    ];
    const tags = [etag];
    for (const [, change] of changes) {
      await change();
      tags.push((await read()).etag);
    }
    for (const [at, [name]] of changes.entries()) expect([name, tags[at + 1] === tags[at]]).toEqual([name, false]);
    await gateway.post(hello('acme/echo')).then((response) => response.text());
    await ada.send('POST', '/workspaces/team/credits', { amount_usd: '1', id: 'no-part-of-it' });
    expect((await read()).etag).toBe(tags.at(-1));
  });

  it('says what a file would change, and writes nothing of it', async () => {
    const at = gateway.logLines.length;
    team().spend_limit_usd = '12.50';
    team().keys.push({ name: 'second', rpm: 5 });
    file.models = file.models.filter(({ id }: { id: string }) => id !== 'acme/other');
    file.providers.push({ id: 'openai', kind: 'openai' });
    file.models.push({ id: 'openai/gpt-5', providers: [{ provider: 'openai', output_price_per_million: '11' }] });
    // The body has nearly 4 MiB, its maximum.
    const padding = `# ${'x'.repeat(4 * 1024 * 1024 - 16_384)}`;
    const { status, body, response } = await replace(stringify(file) + padding, undefined, '?dry_run=true');
    expect([status, body.data.created_keys]).toEqual([200, []]);
    expect(body.data.changes).toEqual([
      expect.objectContaining({ resource: 'catalogue', change: 'changed' }),
      {
        resource: 'workspace team',
        change: 'changed',
        members: [{ path: 'spend_limit_usd', from: null, to: '12.50' }],
      },
      { resource: 'key second of team', change: 'created', members: [] },
    ]);
    expect(body.data.filled).toEqual([
      expect.objectContaining({ place: 'providers[openai]', origin: 'kind openai' }),
      {
        place: 'models[openai/gpt-5].providers[openai]',
        origin: expect.stringMatching(/^model list of /),
        members: expect.objectContaining({ input_price_per_million: '1.25', tools: true }),
      },
      expect.objectContaining({ place: 'models[openai/gpt-5]' }),
    ]);
    expect(body.data.filled[1].members).not.toHaveProperty('output_price_per_million');
    expect(body.data.takes_away).toEqual(['models[acme/other] of catalogue']);
    expect(await differencesOf(operationOf('PUT', '/v1/manage/configuration'), response)).toEqual([]);
    await gateway.settled();
    expect([await read(), changesSince(at)]).toEqual([{ etag, text }, []]);
    expect((await replace(stringify(file), '"another"', '?dry_run=true')).status).toBe(412);
  });

  it('is refused with each fault at its place and line in the file that was sent, whatever of it is unchanged', async () => {
    team().content_log = { keep: '7d' };
    team().keys.push({ name: 'wide', spend_limit_reset: 'daily', content_log: { keep: '30d' } });
    team().functions.unshift({ id: 'alone', kind: 'prompt', revisions: [] });
    const [revision] = team().functions[1].revisions;
    const wrong = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'thing' } } };
    team().functions[1].revisions.push({ ...revision, id: 'r2', state: 'draft', response_format: wrong });
    const fileText = stringify(file);
    const lineOf = (fragment: string) => fileText.slice(0, fileText.indexOf(fragment)).split('\n').length;
    for (const query of ['', '?dry_run=true']) {
      const { status, body } = await replace(fileText, etag, query);
      expect([status, body.error]).toEqual([400, 'invalid_request']);
      expect(body.message.split('; ')).toEqual([
        `workspaces[1].keys[1].content_log.keep: must not be longer than that of the workspace, 7d (line ${lineOf('keep: 30d')})`,
        expect.stringMatching(
          new RegExp(
            `^workspaces\\[1\\]\\.functions\\[1\\]\\.revisions\\[1\\]\\.response_format: .+ \\(line ${lineOf('response_format:')}\\)$`,
          ),
        ),
      ]);
    }
    expect(await read()).toEqual({ etag, text });
    team().keys[1].content_log = { keep: '1d' };
    team().functions[1].revisions.pop();
    const { body } = await replace(stringify(file), etag, '?dry_run=true');
    expect(body.data.notes).toEqual([
      'workspaces[1].keys[1].spend_limit_reset has no effect on a key without spend_limit_usd',
    ]);
  });

  it('becomes what the file says: a new key works, what is taken away is gone, and the person is named', async () => {
    const at = gateway.logLines.length;
    team().concurrency = 9;
    team().keys.push({ name: 'made here', rpm: 50 });
    file.models = file.models.filter(({ id }: { id: string }) => id !== 'acme/other');
    file.access.push({ group: 'admins', role: 'owner', workspaces: 'all' });
    const { body, response, status } = await replace(stringify(file));
    expect([status, body.data.takes_away]).toEqual([
      200,
      ['models[acme/other] of catalogue', 'access is replaced: roles that the file does not name end'],
    ]);
    const [{ key, ...keyFields }] = body.data.created_keys;
    expect(keyFields).toEqual({ workspace: 'team', name: 'made here' });
    const now = await read();
    expect([response.headers.get('etag'), now.etag === etag]).toEqual([now.etag, false]);
    expect(team(parse(now.text))).toMatchObject({ concurrency: 9 });
    const authorization = `Bearer ${key}`;
    const other = await gateway.open();
    expect((await other.post(hello('acme/echo'), { authorization })).status).toBe(200);
    expect((await other.post(hello('acme/other'), { authorization })).status).toBe(400);
    expect(JSON.stringify(gateway.logLines.slice(at))).not.toContain(key);
    await gateway.settled();
    expect(changesSince(at)).toEqual([
      expect.objectContaining({
        operator_name: 'ada',
        change: 'configuration replaced',
        change_target: 'catalogue, workspace team, key made here of team, access',
      }),
    ]);
    // The same file as JSON changes nothing and reports nothing.
    const again = await replace(JSON.stringify(parse(now.text)), `W/${now.etag}`);
    expect([again.status, again.body.data.changes, again.response.headers.get('etag')]).toEqual([200, [], now.etag]);
    // A file without the access section keeps it.
    const { access: _access, ...without } = parse(now.text);
    const replacement = await replace(stringify(without), now.etag);
    expect([replacement.status, replacement.body.data.changes, replacement.response.headers.get('etag')]).toEqual([
      200,
      [],
      now.etag,
    ]);
    await gateway.settled();
    expect(changesSince(at)).toHaveLength(1);
  });

  it.each([
    ['without the tag of what was read', () => replace(text, ''), 412, 'precondition_failed', ''],
    ['with a tag that is no tag any more', () => replace(text, '"0"'), 412, 'precondition_failed', ''],
    ['that is no YAML', () => replace('a: [b'), 400, 'invalid_request', 'line 1'],
    ['that is empty', () => replace(''), 400, 'invalid_request', 'empty'],
    [
      'with faults, each under its path',
      () => replace('providers: []\nmodels: []\nworkspaces: [{ id: team, rpm: 5 }]\nacces: []'),
      400,
      'invalid_request',
      /workspaces\[0\]\.rpm: .*\(line 3\).*acces: .*\(line 4\)/,
    ],
    [
      'that an activated revision does not allow',
      () => {
        team().functions[0].revisions[0].messages[0].content = 'another text';
        return replace(stringify(file));
      },
      400,
      'invalid_request',
      'is activated and cannot be changed',
    ],
    ['of more than 4 MiB', () => replace(`# ${'x'.repeat(4 * 1024 * 1024)}`), 413, 'request_too_large', '4'],
    ['with a parameter that is not known', () => replace(text, etag, '?dry=true'), 400, 'invalid_request', 'dry'],
  ] as const)('is not replaced by a file %s', async (_what, send, status, error, part) => {
    const answer = await send();
    expect([answer.status, answer.body.error]).toEqual([status, error]);
    expect(answer.body.message).toMatch(part);
    expect(await read()).toEqual({ etag, text });
  });

  it('is not replaced without If-Match', async () => {
    const answer = await ada.send('PUT', '/configuration', text);
    expect([answer.status, answer.body.error]).toEqual([412, 'precondition_failed']);
    expect(answer.body.message).toMatch(/^If-Match is required: .*GET \/v1\/manage\/configuration.*ETag/);
    expect(await read()).toEqual({ etag, text });
    expect(await differencesOf(operationOf('PUT', '/v1/manage/configuration'), answer.response)).toEqual([]);
  });

  it('takes no key of a connection out of the variables of the process, and says so', async () => {
    team().byok.connections.push({ provider: 'acme', key: { env: 'PATH' } });
    const { body } = await replace(stringify(file));
    expect(body.data.notes.join()).toContain('PATH is not read here');
    const [connection] = await gateway.composition.connectionStore.read('team');
    expect([connection?.provider, connection?.sealed]).toEqual(['acme', undefined]);
  });
});

describe('changes at the same moment', () => {
  it('of the whole: one is made, and the others are refused', async () => {
    const files = [11, 12, 13, 14].map((concurrency) => {
      const one = structuredClone(file);
      team(one).concurrency = concurrency;
      return [concurrency, stringify(one)] as const;
    });
    const answers = await Promise.all(files.map(([, body]) => replace(body)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 412, 412, 412]);
    const winner = files[statuses.indexOf(200)]?.[0];
    expect((await gateway.composition.workspaceStore.read('team'))?.concurrency).toBe(winner);
  });

  it('of the whole and of fields that it only repeats: what others write meanwhile holds', async () => {
    const { workspaceStore, keys } = gateway.composition;
    const [key] = (await ada.get('/keys?workspace=team')).body.data;
    // This change comes between the comparison with the stored file and the first write.
    const late = await gateway.open({
      replace: ({ catalogues }) => ({
        catalogues: {
          ...catalogues,
          write: async (...args) => {
            await workspaceStore.write({ id: 'team', spend_limit_usd: '33', data_policy: { zdr: false } });
            await ada.send('PATCH', `/keys/${key.public_id}`, { rpm: 41 });
            return catalogues.write(...args);
          },
        },
      }),
    });
    team().data_policy = { data_collection: 'allow' };
    team().concurrency = 21;
    team().keys.find(({ name }: { name: string }) => name === key.name).concurrency = 8;
    file.models[0].display_name = 'Another name';
    expect((await replace(stringify(file), etag, '', asOperator(late, ada.key))).status).toBe(200);
    expect(await workspaceStore.read('team')).toMatchObject({
      spend_limit_usd: '33',
      concurrency: 21,
      data_policy: { zdr: false, data_collection: 'allow' },
    });
    expect(await keys.read(key.public_id)).toMatchObject({ rpm: 41, concurrency: 8 });
  });

  it('of the catalogue: the one that another has written is not replaced, and nothing else is written', async () => {
    const late = await gateway.open({
      replace: ({ catalogues }) => ({
        catalogues: {
          ...catalogues,
          write: async (plan, nowMs) => {
            const renamed = (document: Parameters<typeof plan>[0]) => ({
              ...(document ?? plan(document)),
              models: (document?.models ?? []).map((model) => ({ ...model, display_name: 'Of somebody else' })),
            });
            await catalogues.write(renamed, nowMs);
            return catalogues.write(plan, nowMs);
          },
        },
      }),
    });
    file.models[0].display_name = 'Mine';
    team().concurrency = 31;
    const answer = await replace(stringify(file), etag, '', asOperator(late, ada.key));
    expect([answer.status, answer.body.error]).toEqual([412, 'precondition_failed']);
    const now = parse((await read()).text);
    expect([now.models[0].display_name, team(now).concurrency === 31]).toEqual(['Of somebody else', false]);
  });

  it('of a name that another key gets meanwhile: it means that key alone, and the answer says what was changed before', async () => {
    const late = await gateway.open({
      replace: ({ catalogues }) => ({
        catalogues: {
          ...catalogues,
          write: async (...args) => {
            expect((await ada.send('POST', '/keys', { workspace: 'team', name: 'wanted' })).status).toBe(200);
            return catalogues.write(...args);
          },
        },
      }),
    });
    file.models[0].display_name = 'Changed before';
    team().keys.push({ name: 'wanted', rpm: 3 });
    const { status, body } = await replace(stringify(file), etag, '', asOperator(late, ada.key));
    expect([status, body.error]).toEqual([412, 'precondition_failed']);
    expect(body.message).toMatch(/^wanted is taken in team by the active key .*changed before it failed: catalogue/);
    const keysOfName = (await ada.send('GET', '/keys?workspace=team')).body.data.filter(
      ({ name }: { name: string }) => name === 'wanted',
    );
    expect(keysOfName.map(({ rpm }: { rpm: unknown }) => rpm)).toEqual([null]);
  });

  it('of one key, workspace or provider: a change that others precede each time is 409, and changes nothing', async () => {
    const { store } = gateway.testStore;
    const refuse = async () => ({ kind: 'refused' as const, item: undefined });
    const busy = { ...store, put: refuse, update: refuse };
    const late = await gateway.open({
      replace: () => ({
        keys: createKeyStore(busy),
        workspaceStore: createWorkspaceStore(busy),
        catalogues: createCatalogueStore(busy),
      }),
    });
    const [key] = (await ada.get('/keys?workspace=team')).body.data;
    const operator = asOperator(late, ada.key);
    const changes = [
      ['PATCH', `/keys/${key.public_id}`, { concurrency: 77 }],
      ['PATCH', '/workspaces/team', { concurrency: 77 }],
      ['POST', `/keys/${key.public_id}/rotate`, {}],
      ['POST', '/providers/acme/disable'],
    ] as const;
    for (const [method, path, change] of changes) {
      const { status, body } = await operator.send(method, path, change);
      expect([path, status, body.error]).toEqual([path, 409, 'idempotency_conflict']);
      expect(body.message).toMatch(/another writer/);
    }
    expect(await read()).toEqual({ etag, text });
  });

  it('leave nothing locked behind: a replacement that failed keeps no other from being made', async () => {
    expect((await replace('a: [b')).status).toBe(400);
    team().concurrency = 41;
    expect((await replace(stringify(file))).status).toBe(200);
  });
});
