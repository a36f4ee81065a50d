// Every command that shows providers or calls says why a provider was not reached.
import { afterAll, beforeAll, expect, it } from '#jest';
import { connectionFaultText } from '../../shared/foundation/constants/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { startTestStore } from '../support/test-store.ts';
import { type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

let local: LocalStore;
let gateway: Harness;

beforeAll(async () => {
  local = await startLocalStore();
  gateway = await startHarness({
    models: {
      'acme/model': [{ provider: 'acme', upstream: 'model' }],
      'near/echo': [{ provider: 'near', upstream: 'echo' }],
    },
    providers: { acme: { base_url: 'https://nobody.invalid/v1' } },
    testStore: await startTestStore(local.data),
  });
});
afterAll(async () => {
  await gateway.stop();
  await local.stop();
});

it('a name that no server has is in calls, calls show, providers list and status, with what to do', async () => {
  expect((await gateway.post(hello('near/echo'))).status).toBe(200);
  const response = await gateway.post(hello('acme/model'));
  expect(response.status).toBe(502);
  await gateway.settled();
  const text = connectionFaultText('dns_not_found');
  expect(text).toContain('base_url');
  const id = response.headers.get('x-request-id');
  expect((await operate(`calls show ${id} ${local.option}`)).out).toContain(text);
  expect(await operateJson(`calls show ${id} ${local.option}`)).toMatchObject({
    attempts: [{ provider: 'acme', outcome: 'connection', reason: 'dns_not_found' }],
  });
  expect((await operate(`calls ${local.option}`)).out).toContain('acme connection (dns_not_found)');
  for (const command of ['providers list', 'status']) {
    const { out } = await operate(`${command} ${local.option}`);
    expect(out).toContain(`provider acme is not reached: ${text}`);
    expect(out).not.toContain('provider near is not reached');
    const { providers } = await operateJson<{ providers: { provider: string; reason: string | null }[] }>(
      `${command} ${local.option}`,
    );
    expect(providers.map(({ provider, reason }) => [provider, reason])).toEqual([
      ['acme', 'dns_not_found'],
      ['near', null],
    ]);
  }
});
