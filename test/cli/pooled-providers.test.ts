// A provider with several credentials: operators see each credential.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type AccountProvider, startAccountProvider } from '../support/account-provider.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { operatorOf } from '../support/operator-requests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestStore } from '../support/test-store.ts';
import { operate } from './operator.ts';

const names = ['GW_TEST_LISTED_1', 'GW_TEST_LISTED_2', 'GW_TEST_LISTED_3'];
const states = ['limited', 'refusing', 'serving'] as const;

describe('a provider with a credential at its limit, a refused one and one that serves', () => {
  const clock = manualClock();
  const data = join(temporaryFolder(), 'data');
  let provider: AccountProvider;
  let harness: Harness;

  beforeAll(async () => {
    for (const name of names) process.env[name] = name;
    provider = await startAccountProvider(
      Object.fromEntries(names.map((name, index) => [name, ([429, 401, 200] as const)[index] ?? 200])),
    );
    const credentials = names.map((env) => ({ env }));
    harness = await startHarness({
      clock,
      testStore: await startTestStore(data),
      models: { 'acme/model': [{ provider: 'pool', upstream: 'scripted', more: { rate_limit_rpm: 1_000 } }] },
      providers: { pool: { base_url: provider.url, auth: { bearer: credentials[0] }, credentials } },
    });
    // Each session uses one of the credentials.
    for (let session = 0; session < 20; session += 1) {
      await (await harness.post(hello('acme/model'), { 'x-gw-session-id': `session-${session}` })).text();
    }
    await harness.settled();
    // The statistics are older than the age at which they are counted anew.
    clock.advance(90_000);
  });
  afterAll(async () => {
    await harness.stop();
    await provider.stop();
    for (const name of names) delete process.env[name];
  });

  const gw = (line: string) => operate(`${line} --data ${data}`, { clock, variables: { ...process.env } });

  it('is listed once for each, with what it does', async () => {
    interface Listed {
      readonly providers: readonly unknown[];
    }
    const { providers } = JSON.parse((await gw('providers list --json')).out) as Listed;
    expect(providers).toMatchObject(
      states.map((state, index) => ({
        provider: 'pool',
        position: index + 1,
        states: [state],
        credential: 'present',
        credential_name: names[index],
      })),
    );
    const { out } = await gw('providers list');
    expect(out).toMatch(/^pool#1 .* limited /m);
    expect(out).toMatch(/^pool#2 .* refusing /m);
    expect(out).toMatch(/^pool#3 .* serving /m);
    expect((await gw('status')).out).toMatch(/^acme\/model +pool#2 +refusing /m);
  });

  it('names them in the records of calls', async () => {
    const { out } = await gw('calls');
    expect(out).toMatch(/pool#1 status_429 → /);
    expect(out).toMatch(/pool#2 status_401 \(key refused\) → /);
  });

  it('is shown in the management interface once for each, with the use of its limits', async () => {
    const ada = await operatorOf(harness, 'ada');
    const { body } = await ada.get('/providers');
    expect(body.data[0].models).toMatchObject(
      states.map((state, index) => ({ credential: index + 1, state, limits: { rpm: { limit: 1_000 } } })),
    );
    const { body: shownBody } = await ada.get('/models');
    expect(shownBody.data[0].providers).toMatchObject([{ provider: 'pool', state: 'serving' }]);
  });

  it('is named with a credential that is not set if a file is applied', async () => {
    const path = join(data, '..', 'exported.yaml');
    writeFileSync(path, (await gw('export')).out);
    const { [names[1] as string]: _unset, ...variables } = process.env;
    const { out } = await operate(`apply -f ${path} --dry-run --data ${data}`, { clock, variables });
    const warnings = out.split('\n').filter((line) => line.startsWith('warning: '));
    expect(warnings).toEqual([
      expect.stringContaining(`provider pool#2 has no credential, no call goes there: ${names[1]}`),
    ]);
  });

  it('keeps its credentials in an export, by the names of their secrets', async () => {
    const { out } = await gw('export');
    expect(out).toMatch(/credentials:\s+- env: GW_TEST_LISTED_1\s+- env: GW_TEST_LISTED_2\s+- env: GW_TEST_LISTED_3/);
  });
});
