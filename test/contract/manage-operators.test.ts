// Owners of all workspaces create and revoke operator keys through the management interface.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { parseApiKey } from '../../shared/configuration/keys/index.ts';
import { tableNames } from '../../shared/foundation/constants/index.ts';
import { collect } from '../../shared/foundation/parallel/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { asOperator, type OperatorRequests, operatorOf, walk } from '../support/operator-requests.ts';

let gateway: Harness;
let ada: OperatorRequests;
beforeAll(async () => {
  gateway = await startHarness({
    models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
    moreWorkspaces: [{ id: 'other', credit_usd: '1', keys: [] }],
  });
  ada = await operatorOf(gateway, 'ada');
});
afterAll(() => gateway.stop());

const keyNamed = async (name: string) =>
  (await ada.get('/operators')).body.data.filter((one: { name: string }) => one.name === name);

/** Returns the log lines since `at` that report a change. */
async function changesSince(at: number) {
  await gateway.settled();
  const lines = gateway.logLines.slice(at).map((line) => JSON.parse(line) as Record<string, unknown>);
  return lines.flatMap(({ change, change_target, operator_name }) =>
    change === undefined ? [] : [[operator_name, change, change_target]],
  );
}

describe('an operator key', () => {
  it('is made with a role and workspaces, opens as much and no more, and its text is in that answer only', async () => {
    const at = gateway.logLines.length;
    const grant = { role: 'editor', workspaces: ['other'] };
    const { status, body } = await ada.send('POST', '/operators', { name: 'eve', ...grant });
    expect([status, body.data]).toEqual([
      200,
      {
        public_id: parseApiKey(body.data.key)?.publicId,
        name: 'eve',
        status: 'active',
        ...grant,
        created_at: expect.stringMatching(/Z$/),
        key: expect.stringMatching(/^sk-gw-/),
      },
    ]);
    const { key, ...keyFields } = body.data;
    const eve = asOperator(gateway, key);
    expect((await eve.send('POST', '/keys', { workspace: 'other', name: 'hers' })).status).toBe(200);
    expect((await eve.send('POST', '/keys', { workspace: 'team', name: 'hers' })).status).toBe(404);
    for (const [method, path] of [
      ['GET', '/operators'],
      ['POST', '/operators'],
      ['POST', `/operators/${keyFields.public_id}/revoke`],
    ] as const) {
      const { status: refusalStatus, body: why } = await eve.send(
        method,
        path,
        method === 'GET' ? undefined : { name: 'x' },
      );
      expect([refusalStatus, why]).toEqual([403, expect.objectContaining({ error: 'forbidden' })]);
    }
    expect(await keyNamed('eve')).toEqual([keyFields]);
    const items = await Promise.all(tableNames.map((table) => collect(gateway.testStore.store.scan(table))));
    const [, , , secret = ''] = /^sk-gw-(.{16})-((.{43}).{6})$/.exec(key) ?? [];
    expect(secret).toHaveLength(43);
    await gateway.settled();
    const storedText = JSON.stringify(items, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(storedText).toContain(keyFields.public_id);
    expect(storedText).not.toContain(secret);
    expect(gateway.logLines.slice(at).join('\n')).not.toContain(secret);
    expect(await changesSince(at)).toContainEqual([
      'ada',
      'operator created',
      `eve (${keyFields.public_id}), editor of other`,
    ]);
  });

  it.each([
    [{ name: 'x', role: 'member' }, 'role'],
    [{ name: 'x', workspaces: [] }, 'workspaces'],
    [{ name: 'x', workspaces: 'team' }, 'workspaces'],
    [{ name: 'x\u0000' }, 'name'],
    [{ role: 'owner' }, 'name'],
    [{ name: 'x', secret: 'y' }, 'secret'],
    [{ name: 'ada' }, 'name'],
  ])('is not made of %j: the member at fault is named', async (body, param) => {
    const before = (await ada.get('/operators')).body;
    const { status, body: answer } = await ada.send('POST', '/operators', body, { 'x-gw-error-format': 'openai' });
    expect([status, answer.error]).toEqual([400, expect.objectContaining({ code: 'invalid_request', param })]);
    expect((await ada.get('/operators')).body).toEqual(before);
  });

  it('is not made for a workspace that does not exist', async () => {
    const { response } = await ada.send('POST', '/operators', { name: 'nobody', workspaces: ['team', 'nowhere'] });
    await expectError(response, 404, 'not_found');
    expect(await keyNamed('nobody')).toEqual([]);
  });

  it('is refused from the request after its revocation on, which is reported once, and its name is free again', async () => {
    const grace = await operatorOf(gateway, 'grace');
    const publicId = parseApiKey(grace.key)?.publicId ?? '';
    const at = gateway.logLines.length;
    for (const _again of [1, 2]) {
      const { status, body } = await ada.send('POST', `/operators/${publicId}/revoke`);
      expect([status, body.data]).toEqual([200, expect.objectContaining({ public_id: publicId, status: 'revoked' })]);
      expect((await grace.get('/session')).status).toBe(401);
    }
    expect(await changesSince(at)).toEqual([['ada', 'operator revoked', `grace (${publicId})`]]);
    expect((await ada.send('POST', '/operators', { name: 'grace' })).body.data).toMatchObject({
      role: 'owner',
      workspaces: 'all',
    });
    expect((await keyNamed('grace')).map(({ status }: { status: string }) => status)).toEqual(['revoked', 'active']);
  });

  it('is made once of a name, however many are asked for it before the first one is stored', async () => {
    const arrival = Promise.withResolvers<void>();
    const storing = Promise.withResolvers<void>();
    const slow = await gateway.open({
      replace: ({ operators }) => ({
        operators: {
          ...operators,
          async write(record) {
            arrival.resolve();
            await storing.promise;
            await operators.write(record);
          },
        },
      }),
    });
    const first = asOperator(slow, ada.key).send('POST', '/operators', { name: 'hedy' });
    await arrival.promise;
    const { status, body } = await ada.send('POST', '/operators', { name: 'hedy' });
    expect([status, body.message]).toEqual([400, expect.stringContaining('hedy is the active operator')]);
    storing.resolve();
    expect((await first).status).toBe(200);
    expect(await keyNamed('hedy')).toHaveLength(1);
  });

  it('is no API key: revoking one under the id of an API key finds nothing, and that key goes on', async () => {
    const publicId = parseApiKey(gateway.key)?.publicId ?? '';
    await expectError((await ada.send('POST', `/operators/${publicId}/revoke`)).response, 404, 'not_found');
    expect((await gateway.get('/key')).status).toBe(200);
  });

  it('is no API key: the refusal of one says so, that of another key does not', async () => {
    const refusal = (await asOperator(gateway, gateway.key).get('/session')).body;
    expect(refusal).toMatchObject({ error: 'UNAUTHORIZED', message: expect.stringMatching(/^This is an API key/) });
    expect((await asOperator(gateway, newKey()).get('/session')).body.message).toMatch(/^This needs an operator key/);
  });

  it.each(['', 'sk-gw-x', 'hunter 2'])(
    'that is missing or mistyped, as %j, is refused as an operator key',
    async (key) => {
      const { status, body } = await asOperator(gateway, key).get('/session');
      expect([status, body]).toEqual([
        401,
        expect.objectContaining({
          error: 'UNAUTHORIZED',
          message: expect.stringMatching(/^This needs an operator key/),
        }),
      ]);
    },
  );

  it('is found by a text and in pages, each once', async () => {
    for (const name of ['page 1', 'page 2', 'page 3']) await ada.send('POST', '/operators', { name });
    const pages = (await walk(ada, '/operators?search=PAGE&limit=2', 'cursor')) as { name: string }[][];
    expect(pages.map((page) => page.map(({ name }) => name))).toEqual([['page 1', 'page 2'], ['page 3']]);
  });
});
