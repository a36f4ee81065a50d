// The account that stores a response, after a change of the gateway file.
import { afterAll, beforeAll, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import type { FileParts } from '../support/gateway-file.ts';
import { type Harness, type ServedGateway, startHarness } from '../support/harness.ts';

const names = ['GW_TEST_ACCOUNT_ONE', 'GW_TEST_ACCOUNT_TWO', 'GW_TEST_ACCOUNT_OTHER'] as const;
const [one, two, other, absent] = [...names, 'GW_TEST_ACCOUNT_NONE'].map((env) => ({ env }));
beforeAll(() => {
  for (const name of names) process.env[name] = `key of ${name}`.replaceAll(' ', '-');
});
afterAll(() => {
  for (const name of names) delete process.env[name];
});

const apis = ['responses'];
const pool = { apis, status: 'enabled', auth: { bearer: one }, credentials: [one, two] };
const fileWith = (provider: Record<string, unknown>): FileParts => ({
  models: { 'pool/echo': [{ provider: 'pool', upstream: 'echo' }] },
  providers: { pool: provider },
});
const withoutPool: FileParts = { models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } };

async function make(gateway: Harness): Promise<string> {
  const response = await gateway.postTo('/responses', { model: 'pool/echo', input: 'Hello' });
  const { id } = (await response.json()) as { readonly id: string };
  await gateway.settled();
  return id;
}

/** Reads a stored response and returns the credentials that its provider got. */
async function readBy(gateway: Harness, reader: ServedGateway, id: string) {
  gateway.simulator.clear();
  const { status } = await reader.get(`/responses/${id}`);
  return [status, ...gateway.simulator.calls.map(({ headers }) => headers.authorization)];
}

it('a stored response is read with the credential that made it, by its name, wherever the pool has it', async () => {
  const gateway = await startHarness(fileWith(pool));
  const ids: string[] = [];
  const before: (readonly unknown[])[] = [];
  // The loop runs until both credentials have made a response. Both are equally likely.
  for (let call = 0; call < 64 && new Set(before.map(String)).size < 2; call += 1) {
    const id = await make(gateway);
    ids.push(id);
    before.push(await readBy(gateway, gateway, id));
  }
  expect(before.every(([status]) => status === 200)).toBe(true);
  expect(new Set(before.map(String)).size).toBe(2);
  await gateway.apply(fileWith({ ...pool, auth: { bearer: two }, credentials: [two, other, one] }));
  const turned = await gateway.open();
  const after: (readonly unknown[])[] = [];
  for (const id of ids) after.push(await readBy(gateway, turned, id));
  expect(after).toEqual(before);
  const [id = ''] = ids;
  const next = await turned.postTo('/responses', { model: 'pool/echo', input: 'Go on', previous_response_id: id });
  expect([next.status, gateway.simulator.calls.at(-1)?.headers.authorization]).toEqual([200, after[0]?.[1]]);
  await gateway.stop();
});

it.each<[string, FileParts, number, string, string]>([
  [
    'its credential',
    fileWith({ ...pool, auth: { bearer: other }, credentials: [other, absent] }),
    503,
    'provider_not_configured',
    'no longer the credential of pool',
  ],
  ['its provider', withoutPool, 503, 'provider_not_configured', 'no longer the provider "pool"'],
  [
    'its provider for a time',
    fileWith({ ...pool, status: 'disabled' }),
    400,
    'model_not_routable',
    'has disabled pool',
  ],
])('an account that is gone is named, and no provider is called: %s', async (_what, parts, status, code, words) => {
  const gateway = await startHarness(fileWith(pool));
  const id = await make(gateway);
  await gateway.apply(parts);
  const otherGateway = await gateway.open();
  gateway.simulator.clear();
  for (const path of [`/responses/${id}`, `/responses/${id}?stream=true`, `/responses/${id}/input_items`])
    expect((await expectError(await otherGateway.get(path), status, code)).message).toContain(words);
  expect((await expectError(await otherGateway.postTo(`/responses/${id}/cancel`, ''), status, code)).message).toContain(
    words,
  );
  expect(gateway.simulator.calls).toEqual([]);
  await gateway.stop();
});

it('a stored response is read with its new credential if a provider with one has it under another name', async () => {
  const gateway = await startHarness(fileWith({ apis, auth: { bearer: one } }));
  const id = await make(gateway);
  process.env.GW_TEST_ACCOUNT_RENAMED = process.env[names[0]];
  await gateway.apply(fileWith({ apis, auth: { bearer: { env: 'GW_TEST_ACCOUNT_RENAMED' } } }));
  expect(await readBy(gateway, await gateway.open(), id)).toEqual([200, expect.any(String)]);
  await gateway.apply(fileWith({ apis, auth: { bearer: absent } }));
  const without = await gateway.open();
  const error = await expectError(await without.get(`/responses/${id}`), 503, 'provider_not_configured');
  expect(error.message).toContain('holds no credential for pool');
  delete process.env.GW_TEST_ACCOUNT_RENAMED;
  await gateway.stop();
});
