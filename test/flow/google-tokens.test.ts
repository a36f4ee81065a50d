import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { localCredentials } from '../../shared/composition/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startTokenEndpoint, type TokenEndpoint, tokenAnswer } from '../support/token-endpoint.ts';
import { eventually } from '../support/watched-clock.ts';

const variable = 'GW_TEST_SERVICE_ACCOUNT';

/** What fails cools, so each of these is a provider of its own. */
const faults = {
  refuses: { status: 400, body: { error: 'invalid_grant', error_description: 'secret words' } },
  fails: { status: 500, body: {} },
  'gives-no-token': { status: 200, body: { expires_in: 3_599 } },
  hangs: 'nothing',
} as const;
const vertex = { kind: 'vertex', apis: ['generate-content'], auth: { gcp: { env: variable } } };
const ids = ['vertex', ...Object.keys(faults)];

describe('auth: { gcp }', () => {
  let harness: Harness;
  let endpoint: TokenEndpoint;
  beforeEach(async () => {
    endpoint = await startTokenEndpoint();
    process.env[variable] = endpoint.account();
    harness.simulator.clear();
  });
  afterEach(() => endpoint.stop());
  beforeAll(async () => {
    harness = await startHarness({
      providers: Object.fromEntries(ids.map((id) => [id, vertex])),
      models: {
        ...Object.fromEntries(ids.map((id) => [id, [{ provider: id, upstream: 'echo' }]])),
        ...Object.fromEntries(
          ids.map((id) => [
            `${id}/or-acme`,
            [
              { provider: id, upstream: 'echo', more: { output_price_per_million: '0.1' } },
              { provider: 'acme', upstream: 'echo' },
            ],
          ]),
        ),
      },
    });
  });
  afterAll(async () => {
    delete process.env[variable];
    await harness.stop();
  });
  const credentials = () => harness.simulator.calls.map(({ headers }) => headers.authorization);
  const called = () => harness.simulator.calls.map(({ provider }) => provider);
  const expectNothingTold = () => {
    const lines = harness.logLines.join('\n');
    for (const secret of ['secret words', 'PRIVATE KEY', 'token-']) expect(lines).not.toContain(secret);
  };

  it('makes a token at the account’s own endpoint, signed by its key, and keeps it for later calls', async () => {
    for (const _ of [1, 2]) expect((await harness.post(hello('vertex'))).status).toBe(200);
    expect(credentials()).toEqual(['Bearer token-1', 'Bearer token-1']);
    expect(endpoint.requests).toHaveLength(1);
    const [request] = endpoint.requests;
    expect(request?.isSigned).toBe(true);
    expect(request?.form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    expect(request?.claims).toMatchObject({
      iss: 'gw@project.iam.gserviceaccount.com',
      aud: endpoint.url,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    expectNothingTold();
  });

  it('is asked once where several calls wait for the same token', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => harness.post(hello('vertex'))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(endpoint.requests).toHaveLength(1);
  });

  it('renews a token before it ends', async () => {
    endpoint.answer = tokenAnswer('token-2', 60);
    for (const _ of [1, 2]) expect((await harness.post(hello('vertex'))).status).toBe(200);
    expect(credentials()).toEqual(['Bearer token-2', 'Bearer token-2']);
    expect(endpoint.requests).toHaveLength(2);
  });

  it.each(['refuses', 'fails', 'gives-no-token'] as const)(
    'is a failure of that provider where the endpoint %s: another candidate answers, and the next call asks anew',
    async (fault) => {
      endpoint.answer = faults[fault];
      const served = await harness.post(hello(`${fault}/or-acme`));
      expect(await served.json()).toMatchObject({ usage: { provider: 'acme', attempts: 2 } });
      await harness.settled();
      expect(called()).toEqual(['acme']);
      expectNothingTold();
      endpoint.answer = tokenAnswer('token-3');
      expect((await harness.post(hello(fault))).status).toBe(200);
    },
  );

  it('is a failure after five seconds where the endpoint hangs: another candidate answers', async () => {
    const clock = manualClock();
    const gateway = await harness.open({ replace: () => ({ credentials: localCredentials(clock) }) });
    endpoint.answer = faults.hangs;
    const answer = gateway.post(hello('hangs/or-acme'));
    await eventually(() => endpoint.requests.length === 1);
    clock.advance(4_999);
    expect(called()).toEqual([]);
    clock.advance(1);
    expect(await (await answer).json()).toMatchObject({ usage: { provider: 'acme', attempts: 2 } });
    expect(called()).toEqual(['acme']);
    expectNothingTold();
  });
});
