// Which person may do what on the management interface: every route for every role, people's own keys, and invalid
// tokens.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { managementRoutes, type RouteName, routeNames } from '../../shared/configuration/management/index.ts';
import { builtPrograms } from '../support/built-programs.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import {
  clientId,
  discoveryPath,
  type IdentityProvider,
  keysPath,
  startIdentityProvider,
} from '../support/identity-provider.ts';
import { asOperator, type OperatorRequests, operatorOf } from '../support/operator-requests.ts';
import { startRealProvider } from '../support/real-identity-provider.ts';
import { type GatewayServer, serveGateway, testGateway } from '../support/serve-gateway.ts';
import { projectRoot } from '../support/source-files.ts';

const teamKey = newKey();
const otherKey = newKey();
const memberKeys = { max: 2, rpm: 60, spend_limit_usd: '5', spend_limit_reset: 'monthly', expires_in: '30d' };
let provider: IdentityProvider;
let gateway: Harness;
let server: GatewayServer;

beforeAll(async () => {
  provider = await startIdentityProvider();
  const label = { functions: [promptFunction('label', 'acme/echo')] };
  gateway = await startHarness({
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
      'globex/failing': [{ provider: 'globex', upstream: 'error-500' }],
    },
    workspace: { ...label, member_keys: memberKeys },
    moreWorkspaces: [
      { id: 'other', credit_usd: '1', keys: [{ name: 'theirs', key: otherKey }], ...label },
      { id: 'closed', credit_usd: '1', keys: [{ name: 'spare', key: teamKey }] },
    ],
    access: [
      { email: 'Vera@example.com', role: 'viewer', workspaces: ['team'] },
      { email: 'kim@example.com', role: 'viewer', workspaces: ['team'] },
      { group: 'editors', role: 'editor', workspaces: ['team'] },
      { group: 'owners', role: 'owner', workspaces: ['team'] },
      { group: 'all-editors', role: 'editor', workspaces: 'all' },
      { group: 'admins', role: 'owner', workspaces: 'all' },
      { group: 'staff', role: 'member', workspaces: ['team', 'closed'] },
    ],
  });
  const signIn = { issuer: provider.issuer, clientId, groupsClaim: 'groups' };
  server = await serveGateway(gateway.composition, testGateway(gateway.composition, signIn));
  await (await gateway.post(hello('acme/echo'))).text();
  await (await gateway.post(hello('acme/echo'), { authorization: `Bearer ${otherKey}` })).text();
  await gateway.settled();
});
afterAll(async () => {
  await server.close();
  await gateway.stop();
  await provider.stop();
});

const person = async (claims: Record<string, unknown>): Promise<OperatorRequests> =>
  asOperator({ url: server.url }, await provider.token({ sub: `subject of ${JSON.stringify(claims)}`, ...claims }));
const people = {
  nobody: { email: 'eve@example.com' },
  member: { email: 'mia@example.com', groups: ['staff'] },
  viewer: { email: 'vera@EXAMPLE.com' },
  editor: { email: 'ed@example.com', groups: ['editors'] },
  owner: { email: 'olga@example.com', groups: ['owners', 'other-group'] },
  allEditor: { email: 'al@example.com', groups: ['all-editors'] },
  admin: { email: 'ada@example.com', groups: ['admins'] },
} as const;
type Who = keyof typeof people;

/** Statuses in the order of `people`; `-` if the request before made another answer impossible. */
const routeTable: Readonly<Record<RouteName, { readonly body?: object; readonly statuses: string }>> = {
  'GET /session': { statuses: '403 200 200 200 200 200 200' },
  'GET /choices': { statuses: '403 200 200 200 200 200 200' },
  'GET /overview': { statuses: '403 200 200 200 200 200 200' },
  'GET /calls': { statuses: '403 200 200 200 200 200 200' },
  'GET /calls/{id}': { statuses: '403 404 200 200 200 200 200' },
  // An editor needs `content: true` too; no content of this call is stored.
  'GET /calls/{id}/content': { statuses: '403 403 403 403 404 403 404' },
  'GET /providers': { statuses: '403 403 200 200 200 200 200' },
  'GET /models': { statuses: '403 403 200 200 200 200 200' },
  'POST /models/update': { body: {}, statuses: '403 403 403 403 403 403 200' },
  'GET /keys': { statuses: '403 200 200 200 200 200 200' },
  'POST /keys': { body: { workspace: 'team', name: 'NAME' }, statuses: '403 200 403 200 200 200 200' },
  'PATCH /keys/{public_id}': { body: { rpm: 5 }, statuses: '403 404 403 200 200 200 200' },
  'POST /keys/{public_id}/rotate': { body: { grace: '1h' }, statuses: '403 404 403 200 200 200 200' },
  'GET /operators': { statuses: '403 403 403 403 403 403 200' },
  'POST /operators': { body: { name: 'NAME' }, statuses: '403 403 403 403 403 403 200' },
  'POST /operators/{public_id}/revoke': { statuses: '403 403 403 403 403 403 200' },
  'GET /workspaces': { statuses: '403 403 200 200 200 200 200' },
  'GET /workspaces/{id}': { statuses: '403 403 200 200 200 200 200' },
  'POST /workspaces/{id}/credits': { body: { amount_usd: '1', id: 'i' }, statuses: '403 403 403 403 200 403 200' },
  'POST /workspaces': { body: { id: 'new-NAME' }, statuses: '403 403 403 403 403 403 200' },
  'PATCH /workspaces/{id}': { body: { function_concurrency: 9 }, statuses: '403 403 403 403 200 403 200' },
  'GET /workspaces/{id}/credits': { statuses: '403 403 200 200 200 200 200' },
  'POST /providers/{id}/enable': { statuses: '403 403 403 403 403 200 200' },
  'POST /providers/{id}/disable': { statuses: '403 403 403 403 403 200 200' },
  'GET /functions/{workspace}/{id}': { statuses: '403 403 200 200 200 200 200' },
  'POST /functions/{workspace}/{id}/revisions': {
    body: { kind: 'prompt', revision: { id: 'NAME', model: 'acme/echo', messages: [{ role: 'user', content: 'x' }] } },
    statuses: '403 403 403 200 200 200 200',
  },
  'POST /functions/{workspace}/{id}/cases': { body: { revision: 'r1' }, statuses: '403 403 403 200 200 200 200' },
  'GET /functions': { statuses: '403 403 200 200 200 200 200' },
  'POST /functions/{workspace}/{id}/enable': { statuses: '403 403 403 200 200 200 200' },
  'POST /functions/{workspace}/{id}/disable': { statuses: '403 403 403 200 200 200 200' },
  'GET /configuration': { statuses: '403 403 403 403 403 403 200' },
  'PUT /configuration': { statuses: '403 403 403 403 403 403 412' },
  'POST /functions/{workspace}/{id}/activate': { body: { revision: 'r1' }, statuses: '403 403 403 200 200 200 200' },
};

let resourceCount = 0;
/** Returns the path of a route with an existing id in place of each `*`. */
async function pathOf(path: string, workspace = 'team'): Promise<string> {
  let parts: (string | undefined)[] = [workspace, 'label'];
  if (path.startsWith('/providers')) parts = ['acme'];
  if (path.startsWith('/calls')) parts = [(await gateway.records(workspace))[0]?.executionId];
  if (path.startsWith('/keys/')) {
    resourceCount += 1;
    const { body } = await (await operatorOfAll()).send('POST', '/keys', {
      workspace,
      name: `number ${resourceCount}`,
    });
    parts = [body.data.public_id];
  }
  if (path.startsWith('/operators/'))
    parts = [parseApiKey((await operatorOf(gateway, `number ${resourceCount++}`)).key)?.publicId];
  return path.replaceAll(/\{\w+\}/g, () => String(parts.shift()));
}
let everything: Promise<OperatorRequests> | undefined;
const operatorOfAll = () => (everything ??= operatorOf(gateway, 'everything'));

describe('every route of the management interface', () => {
  it('is printed with its role by the command that the README names', async () => {
    const page = readFileSync(join(projectRoot, 'functions/operator/README.md'), 'utf8');
    expect(page).toContain('npm run --silent openapi -- --routes');
    const main = join(projectRoot, 'infra/openapi/main.ts');
    const env = { ...process.env, ...(await builtPrograms()) };
    const rows = execFileSync(process.execPath, [main, '--routes'], { env, encoding: 'utf8' }).trimEnd().split('\n');
    const printedRows = rows.map((row) => row.split(/ {2,}/).slice(0, 2).join(': '));
    expect(printedRows).toEqual(Object.entries(managementRoutes).map(([name, { role }]) => `${name}: ${role}`));
  });

  it.each(routeNames)('answers each role as the table says: %s', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const { body, statuses } = routeTable[route];
    const faults: string[] = [];
    // Only an operator's key opens the route, and no body is read before the check.
    for (const authorization of [undefined, gateway.key, newKey(), 'sk-gw-x']) {
      const headers = authorization === undefined ? {} : { authorization: `Bearer ${authorization}` };
      const init = { method, headers, ...(method === 'GET' ? {} : { body: 'no JSON' }) };
      await expectError(
        await fetch(`${server.url}/manage${path.replaceAll(/\{\w+\}/g, 'x')}`, init),
        401,
        'UNAUTHORIZED',
      );
    }
    for (const who of Object.keys(people) as Who[]) {
      const requestBody = body && JSON.parse(JSON.stringify(body).replace('NAME', who));
      const target = await pathOf(path);
      const { status, body: answer } = await (await person(people[who])).send(method, target, requestBody);
      if (status === 403)
        expect(answer).toMatchObject({ error: 'forbidden', message: expect.stringMatching(/role|access|member/) });
      faults.push(String(status));
    }
    expect(faults.join(' ')).toBe(statuses);
  });

  it.each(routeNames.filter((route) => route.includes('{') && !managementRoutes[route].role.endsWith('of all')))(
    'is answered for a workspace that is not theirs as for one that does not exist: %s',
    async (route) => {
      const [method = '', path = ''] = route.split(' ');
      const { body } = routeTable[route];
      const owner = await person(people.owner);
      const [theirs, none] = [
        await pathOf(path, 'other'),
        (await pathOf(path)).replace(/team|[^/]+(?=$|\/rotate)/, 'none'),
      ];
      const answers = await Promise.all([theirs, none].map((target) => owner.send(method, target, body)));
      expect(answers.map(({ status, body: { error } }) => [status, error])).toEqual([
        [404, 'not_found'],
        [404, 'not_found'],
      ]);
    },
  );

  it('shows nothing of other workspaces in lists, sums and filters', async () => {
    const owner = await person(people.owner);
    const lists = [
      '/calls',
      '/calls?workspace=other',
      '/keys',
      '/keys?workspace=other',
      '/workspaces',
      '/functions',
      '/overview',
      '/calls?search=the',
      '/keys?search=the',
      '/workspaces?search=oth',
      '/functions?search=oth',
    ];
    for (const path of lists) {
      const { status, body } = await owner.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(JSON.stringify(body)).not.toMatch(/other|theirs/);
    }
    expect((await owner.get('/overview')).body.data.totals.calls).toBe(1);
    const admin = await person(people.admin);
    expect((await admin.get('/overview')).body.data.totals.calls).toBe(2);
    // A provider is cooling for another workspace.
    const authorization = `Bearer ${otherKey}`;
    for (const _call of [1, 2, 3]) await (await gateway.post(hello('globex/failing'), { authorization })).text();
    const coolingFor = async (operator: OperatorRequests) => {
      const { body } = await operator.get('/providers');
      return body.data
        .flatMap(({ models }: { models: { cooling_for: unknown }[] }) => models)
        .map(({ is_cooling, cooling_for }: Record<string, unknown>) => [is_cooling, cooling_for]);
    };
    expect(await coolingFor(admin)).toEqual([
      [false, []],
      [true, ['other']],
    ]);
    expect(await coolingFor(owner)).toEqual([
      [false, []],
      [false, []],
    ]);
  });

  it('gives an operator key the role and workspaces that it was made with', async () => {
    const viewer = await operatorOf(gateway, 'viewer of other', { role: 'viewer', workspaces: ['other'] });
    const shownKeys = (await viewer.get('/keys')).body.data as { name: string; workspace: string }[];
    expect(shownKeys.map(({ name }) => name)).toContain('theirs');
    expect(new Set(shownKeys.map(({ workspace }) => workspace))).toEqual(new Set(['other']));
    expect((await viewer.send('POST', '/keys', { workspace: 'other', name: 'more' })).status).toBe(403);
    expect((await viewer.send('POST', '/keys', { workspace: 'team', name: 'more' })).status).toBe(404);
  });
});

describe('keys of a member', () => {
  it('are made within what the workspace allows, are seen by their owner, and no more than may be at once', async () => {
    const mia = await person({ email: 'Mia.Two@example.com', groups: ['staff'] });
    const creation = await mia.send('POST', '/keys', { workspace: 'team', name: 'laptop', rpm: 10 });
    expect(creation.body.data).toMatchObject({
      rpm: 10,
      spend_limit_usd: '5',
      spend_limit_reset: 'monthly',
      owner: 'mia.two@example.com',
      state: 'active',
    });
    const tooMuch = [
      { rpm: 61 },
      { rpm: null },
      { spend_limit_usd: '5.01' },
      { spend_limit_reset: 'daily' },
      { expires_at: '2099-01-01' },
    ];
    for (const limits of tooMuch) {
      const refusal = await mia.send('POST', '/keys', { workspace: 'team', name: 'large', ...limits });
      expect([limits, refusal.status, refusal.body.error]).toEqual([limits, 403, 'forbidden']);
      const [member = ''] = Object.keys(limits);
      expect(refusal.body.message).toContain(member);
    }
    const together = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => mia.send('POST', '/keys', { workspace: 'team', name })),
    );
    const statuses = together.map(({ status }) => status).toSorted();
    expect(statuses[0]).toBe(200);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const shownKeys = (await mia.get('/keys')).body.data;
    expect(shownKeys).toHaveLength(2);
    expect(shownKeys.every(({ owner }: { owner: string }) => owner === 'mia.two@example.com')).toBe(true);
    // The key shows its own calls and spending only.
    const call = { authorization: `Bearer ${creation.body.data.key}` };
    await (await gateway.post(hello('acme/echo'), call)).text();
    await gateway.settled();
    expect((await mia.get('/calls')).body.data).toHaveLength(1);
    expect((await mia.get('/overview')).body.data.totals.calls).toBe(1);
    // A key that ends later counts as one of the person's keys, so a rotation needs room for one more.
    const { public_id: id } = creation.body.data;
    expect((await mia.send('POST', `/keys/${id}/rotate`, { grace: '1h' })).status).toBe(403);
    const [spare] = shownKeys.filter(({ public_id: one }: { public_id: string }) => one !== id);
    expect((await mia.send('PATCH', `/keys/${spare.public_id}`, { status: 'revoked' })).body.data.state).toBe(
      'revoked',
    );
    expect((await mia.send('PATCH', `/keys/${spare.public_id}`, { status: 'active' })).status).toBe(403);
    const rotation = await mia.send('POST', `/keys/${id}/rotate`, { grace: '1h' });
    expect(rotation.body.data).toMatchObject({ name: 'laptop', state: 'active', owner: 'mia.two@example.com' });
    const states = (await mia.get('/keys')).body.data.map(({ state }: { state: string }) => state).toSorted();
    expect(states).toEqual(['active', 'ending', 'revoked']);
  });

  it('come with their bounds and how many are left, and with ids to choose from that the person may use', async () => {
    const { workspaceStore } = gateway.composition;
    await workspaceStore.write({ id: 'other', models: ['globex/failing'] });
    const mia = await person({ email: 'mia.three@example.com', groups: ['staff'] });
    const choicesOf = async (who: OperatorRequests) => (await who.get('/choices')).body.data;
    const bounds = { concurrency: null, ...memberKeys };
    expect(await choicesOf(mia)).toEqual({
      models: ['acme/echo', 'globex/failing'],
      providers: [],
      guardrails: [],
      tag_names: [],
      member_keys: [
        { workspace: 'closed', bounds: null, left: 0 },
        { workspace: 'team', bounds: expect.objectContaining(bounds), left: 2 },
      ],
    });
    const creation = await mia.send('POST', '/keys', { workspace: 'team', name: 'one', tags: { 'of-mia': 'yes' } });
    const after = await choicesOf(mia);
    expect([after.member_keys[1].left, after.tag_names]).toEqual([1, ['of-mia']]);
    // Tags of keys are shown to people who may see the keys.
    expect((await choicesOf(await person(people.member))).tag_names).toEqual([]);
    const editor = await choicesOf(await person(people.editor));
    expect([editor.tag_names, editor.member_keys, editor.providers.length > 0]).toEqual([['of-mia'], [], true]);
    await mia.send('PATCH', `/keys/${creation.body.data.public_id}`, { status: 'revoked' });
    expect((await choicesOf(mia)).member_keys[1].left).toBe(2);
    // A person of a workspace with few models is offered these models only.
    const rules = await gateway.composition.access.read();
    await gateway.composition.access.write([...rules, { group: 'narrow', role: 'member', workspaces: ['other'] }]);
    const narrow = await person({ email: 'nora@example.com', groups: ['narrow'] });
    expect((await choicesOf(narrow)).models).toEqual(['globex/failing']);
    await gateway.composition.access.write(rules);
    await workspaceStore.write({ id: 'other', models: 'all' });
  });

  it('are made by no member if the workspace does not say so, and by none without an e-mail in the name of another', async () => {
    const mia = await person(people.member);
    expect((await mia.send('POST', '/keys', { workspace: 'closed', name: 'n' })).body).toMatchObject({
      error: 'forbidden',
      message: expect.stringContaining('member_keys'),
    });
    const claimed = await person({
      sub: 'mia.two@example.com',
      email: 'mia.two@example.com',
      email_verified: false,
      groups: ['staff'],
    });
    expect((await claimed.get('/keys')).body.data).toEqual([]);
    // The name has the sign of Kelvin, which becomes a k in lower case.
    const [kim, other] = [await person({ email: 'KIM@example.com' }), await person({ email: '\u212aim@example.com' })];
    expect((await kim.get('/session')).status).toBe(200);
    expect((await other.get('/session')).body).toMatchObject({ error: 'forbidden' });
    for (const email_verified of [false, undefined, null, 'false', 1]) {
      const unverified = await person({ email: 'vera@example.com', email_verified });
      expect((await unverified.get('/session')).body).toMatchObject({
        error: 'forbidden',
        message: expect.stringContaining('verified'),
      });
    }
  });

  it.each([{ share: 0 }, { keep: '1d' }, null])('sets no content_log of an own key: %j', async (content_log) => {
    const mia = await person({ email: `mia.log.${JSON.stringify(content_log).length}@example.com`, groups: ['staff'] });
    const forbidden = { error: 'forbidden', message: expect.stringContaining('content_log') };
    const logName = `log of ${JSON.stringify(content_log).length}`;
    const of = (name: string) => ({ workspace: 'team', name });
    const creation = await mia.send('POST', '/keys', of(logName));
    expect(creation.status).toBe(200);
    const { public_id: id } = creation.body.data;
    if (content_log !== null) {
      expect((await mia.send('POST', '/keys', { ...of('other'), content_log })).body).toMatchObject(forbidden);
    }
    expect((await mia.send('PATCH', `/keys/${id}`, { content_log })).body).toMatchObject(forbidden);
    const withRevocation = await mia.send('PATCH', `/keys/${id}`, { content_log, status: 'revoked' });
    expect(withRevocation.body).toMatchObject(forbidden);
    expect((await mia.get('/keys')).body.data).toMatchObject([{ name: logName, status: 'active', content_log: null }]);
  });

  it('names the person in the log line of a change', async () => {
    const at = gateway.logLines.length;
    await (await person(people.editor)).send('POST', '/keys', { workspace: 'team', name: 'named' });
    await server.settled();
    const lines = gateway.logLines.slice(at).map((line) => JSON.parse(line) as object);
    expect(lines).toContainEqual(expect.objectContaining({ operator_name: 'ed@example.com', change: 'key created' }));
  });
});

describe('roles', () => {
  it('of all entries that match add up, by the groups in the claim that the stage names', async () => {
    const signIn = { issuer: provider.issuer, clientId, groupsClaim: 'cognito:groups' };
    const other = await serveGateway(gateway.composition, testGateway(gateway.composition, signIn));
    const rolesBy = async (claims: object) => {
      const token = await provider.token({ sub: 'several', email: 'several@example.com', ...claims });
      return (await asOperator({ url: other.url }, token).get('/session')).body;
    };
    try {
      expect((await rolesBy({ 'cognito:groups': ['staff', 'editors'] })).data.workspaces).toEqual({
        member: ['closed', 'team'],
        viewer: ['team'],
        editor: ['team'],
        owner: [],
      });
      expect(await rolesBy({ groups: ['staff', 'editors'] })).toMatchObject({ error: 'forbidden' });
      // A text is no list of groups.
      expect(await rolesBy({ 'cognito:groups': 'staff' })).toMatchObject({ error: 'forbidden' });
    } finally {
      await other.close();
    }
  });

  it('change with the next request', async () => {
    const late = await person({ email: 'late@example.com' });
    expect((await late.get('/session')).status).toBe(403);
    const rules = await gateway.composition.access.read();
    await gateway.composition.access.write([
      ...rules,
      { email: 'late@example.com', role: 'owner', workspaces: ['team'] },
    ]);
    expect((await late.get('/session')).body.data.workspaces).toEqual({
      member: ['team'],
      viewer: ['team'],
      editor: ['team'],
      owner: ['team'],
    });
    await gateway.composition.access.write(rules);
    expect((await late.get('/session')).status).toBe(403);
  });
});

describe('a token that proves nothing', () => {
  const forged = async (
    claims: Record<string, unknown>,
    header: { alg: string; kid?: string; jku?: string },
    key?: Uint8Array,
  ) => {
    const { privateKey } = await generateKeyPair(header.alg === 'RS256' ? 'RS256' : 'ES256');
    const nowSeconds = Math.floor(Date.now() / 1_000);
    return new SignJWT({
      iss: provider.issuer,
      aud: clientId,
      sub: 's',
      iat: nowSeconds,
      exp: nowSeconds + 60,
      groups: ['admins'],
      ...claims,
    })
      .setProtectedHeader({ kid: 'k1', ...header })
      .sign(key ?? privateKey);
  };
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const admin = { sub: 's', groups: ['admins'] };
  const cases: readonly (readonly [string, () => Promise<string>])[] = [
    ['of another issuer', () => provider.token({ ...admin, iss: 'https://issuer.example' })],
    ['for another client', () => provider.token({ ...admin, aud: 'other-client' })],
    [
      'for several clients, made for another one',
      () => provider.token({ ...admin, aud: [clientId, 'other'], azp: 'other' }),
    ],
    ['for several clients, made for nobody', () => provider.token({ ...admin, aud: [clientId, 'other'] })],
    ['made for another client, if for this one to read', () => provider.token({ ...admin, azp: 'other' })],
    ['that has ended', () => provider.token({ ...admin, exp: 1_700_000_000 })],
    ['that begins later', () => provider.token({ ...admin, nbf: 4_000_000_000 })],
    ['without an end', () => provider.token({ ...admin, exp: undefined as unknown as number })],
    ['without a subject', () => provider.token({ groups: ['admins'] })],
    ['signed by a key that the issuer has not published', () => forged({}, { alg: 'ES256' })],
    ['signed by another kind of key under a published name', () => forged({}, { alg: 'RS256' })],
    [
      'signed by a shared secret',
      () => forged({}, { alg: 'HS256' }, new TextEncoder().encode('a secret that is long enough for it')),
    ],
    [
      'that names the place of its own key',
      () => forged({}, { alg: 'ES256', jku: 'https://keys.example', kid: 'mine' }),
    ],
    [
      'without a signature',
      async () => `${encoded({ alg: 'none' })}.${encoded({ iss: provider.issuer, aud: clientId, ...admin })}.AA`,
    ],
    ['of another type than a token', async () => `${encoded({})}.${encoded({})}.AA`],
  ];

  it.each(cases)('is refused: %s', async (_what, make) => {
    const eve = asOperator({ url: server.url }, await make());
    const { status, body } = await eve.get('/session');
    expect([status, body.error]).toEqual([401, 'UNAUTHORIZED']);
    expect(JSON.stringify(body)).not.toMatch(/admins|kid|jose/i);
  });

  it('opens no other path: an identity token is no API key', async () => {
    const token = await provider.token({ ...admin });
    const { origin } = new URL(server.url);
    for (const path of ['/v1/models', '/v1/key', '/openai/v1/models']) {
      expect((await fetch(origin + path, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    }
  });
});

describe('a certified provider', () => {
  it('signs people in with the code flow and PKCE: the token opens what their groups allow, and nothing once it is changed', async () => {
    const real = await startRealProvider(['editors']);
    const settings = { issuer: real.issuer, clientId, groupsClaim: 'groups' };
    const other = await serveGateway(gateway.composition, testGateway(gateway.composition, settings));
    try {
      const token = await real.signIn('rita@example.com', 'n-1');
      const { status, body } = await asOperator({ url: other.url }, token).get('/session');
      expect([status, body.data]).toEqual([
        200,
        {
          name: 'rita@example.com',
          is_person: true,
          ends_at: expect.stringMatching(/^20/),
          workspaces: { member: ['team'], viewer: ['team'], editor: ['team'], owner: [] },
        },
      ]);
      const [head = '', claims = '', signature = ''] = token.split('.');
      const changedClaims = JSON.parse(Buffer.from(claims, 'base64url').toString());
      const forgedClaims = Buffer.from(JSON.stringify({ ...changedClaims, groups: ['admins'] })).toString('base64url');
      const forgedToken = [head, forgedClaims, signature].join('.');
      expect((await asOperator({ url: other.url }, forgedToken).get('/session')).status).toBe(401);
      expect(changedClaims.nonce).toBe('n-1');
    } finally {
      await other.close();
      await real.stop();
    }
  });
});

describe('an identity provider that fails', () => {
  const signInOf = (issuer: string) => ({ issuer, clientId, groupsClaim: 'groups' });
  async function withProvider(
    change: (one: IdentityProvider) => void,
    work: (url: string, one: IdentityProvider) => Promise<void>,
  ) {
    const one = await startIdentityProvider();
    change(one);
    const other = await serveGateway(gateway.composition, testGateway(gateway.composition, signInOf(one.issuer)));
    try {
      await work(other.url, one);
    } finally {
      await other.close();
      await one.stop();
    }
  }

  const failures: readonly (readonly [string, ...((one: IdentityProvider) => void)[]])[] = [
    [
      'publishes a key set of 20 MB',
      (one) => one.replaced.set(keysPath, JSON.stringify({ keys: [], pad: 'x'.repeat(20_000_000) })),
    ],
    // Both fail in one row, because each waits for the time limit.
    [
      'never answers for its keys, or its discovery',
      (one) => one.replaced.set(keysPath, 'hang'),
      (one) => one.replaced.set(discoveryPath, 'hang'),
    ],
    ['publishes no key set', (one) => one.replaced.set(keysPath, '<html>')],
    [
      'names another issuer',
      (one) =>
        one.replaced.set(
          discoveryPath,
          JSON.stringify({
            issuer: 'https://other.example',
            authorization_endpoint: one.issuer,
            token_endpoint: one.issuer,
            jwks_uri: one.issuer + keysPath,
          }),
        ),
    ],
    [
      'has endpoints that are not encrypted',
      (one) =>
        one.replaced.set(
          discoveryPath,
          JSON.stringify({
            issuer: one.issuer,
            authorization_endpoint: 'http://a.example',
            token_endpoint: 'http://a.example',
            jwks_uri: 'http://a.example',
          }),
        ),
    ],
  ];

  it.each(failures)(
    'makes 503 of a token, asks it once, and leaves operator keys alone: it %s',
    async (_what, ...changes) => {
      const isRefused = async (url: string, one: IdentityProvider) => {
        const token = await one.token({ sub: 's', groups: ['admins'] });
        for (const tried of [1, 2]) {
          const { status, body } = await asOperator({ url }, token).get('/session');
          expect([tried, status, body.error]).toEqual([tried, 503, 'RATE_LIMITER_UNAVAILABLE']);
        }
        expect(one.requests.length).toBeLessThanOrEqual(2);
        const { key } = await operatorOfAll();
        expect((await asOperator({ url }, key).get('/session')).status).toBe(200);
      };
      await Promise.all(changes.map((change) => withProvider(change, isRefused)));
    },
  );

  it('serves the page without it: its settings say that it does not answer, and its policy names no other place', async () => {
    await withProvider(
      (one) => one.replaced.set(discoveryPath, 'no JSON'),
      async (url, one) => {
        const settings = await fetch(`${new URL(url).origin}/console/settings.json`);
        expect(await settings.json()).toMatchObject({ sign_in: { issuer: one.issuer, authorization_endpoint: null } });
        expect(settings.headers.get('content-security-policy')).toContain("connect-src 'self';");
      },
    );
  });
});

describe('the page where people sign in', () => {
  it('knows where, and may call the provider’s token endpoint and nothing else', async () => {
    const origin = new URL(server.url).origin;
    const settings = await fetch(`${origin}/console/settings.json`);
    expect(await settings.json()).toEqual({
      gateway_url: null,
      sign_in: {
        issuer: provider.issuer,
        client_id: clientId,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        scope: 'openid email',
      },
    });
    for (const path of ['/console', '/console/settings.json']) {
      const policy = (await fetch(origin + path)).headers.get('content-security-policy') ?? '';
      expect(policy.split('; ').find((part) => part.startsWith('connect-src'))).toBe(
        `connect-src 'self' ${provider.issuer}`,
      );
    }
  });
});
