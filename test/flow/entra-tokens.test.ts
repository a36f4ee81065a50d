import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { localCredentials } from '../../shared/composition/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { type TokenAnswer, tokenAnswer } from '../support/token-endpoint.ts';
import { eventually } from '../support/watched-clock.ts';

const variable = 'GW_TEST_ENTRA_SECRET';
const secret = 'canary~secret.of+the=application';
/** Each fault has a provider of its own, because a failing provider cools. */
const faults = {
  refuses: { status: 401, body: { error: 'invalid_client', error_description: 'secret words' } },
  fails: { status: 500, body: {} },
  'gives-no-token': { status: 200, body: { expires_in: 3_599 } },
} as const;
const ids = ['azure', 'sovereign', 'hangs', ...Object.keys(faults)];

describe('auth: { entra }', () => {
  let endpoint: ScriptedProvider;
  let harness: Harness;
  let answer: TokenAnswer;
  let paths: (string | undefined)[];
  let earlier: number;

  beforeAll(async () => {
    process.env[variable] = secret;
    endpoint = await startScriptedProvider((outgoing) => {
      paths.push(outgoing.req.url);
      if (answer === 'nothing') return;
      outgoing.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
    const client = { tenant: 'contoso.onmicrosoft.com', client_id: 'app-1', client_secret: { env: variable } };
    const azure = {
      kind: 'azure',
      apis: ['chat-completions'],
      auth: { entra: { ...client, authority: endpoint.url } },
    };
    const scope = 'https://cognitiveservices.azure.us/.default';
    harness = await startHarness({
      providers: {
        ...Object.fromEntries(ids.map((id) => [id, azure])),
        sovereign: { ...azure, auth: { entra: { ...azure.auth.entra, scope } } },
      },
      models: Object.fromEntries(
        ids.flatMap((id) => [
          [id, [{ provider: id, upstream: 'echo' }]],
          [
            `${id}/or-acme`,
            [
              { provider: id, upstream: 'echo', more: { output_price_per_million: '0.1' } },
              { provider: 'acme', upstream: 'echo' },
            ],
          ],
        ]),
      ),
    });
  });
  afterAll(async () => {
    delete process.env[variable];
    await harness.stop();
    await endpoint.stop();
  });
  beforeEach(() => {
    answer = tokenAnswer('token-1');
    paths = [];
    earlier = endpoint.bodies.length;
    harness.simulator.clear();
  });

  const open = () => harness.open({ replace: () => ({ credentials: localCredentials(manualClock()) }) });
  const requests = () => endpoint.bodies.slice(earlier);
  const calledProviders = () => harness.simulator.calls.map(({ provider }) => provider);
  const expectNoReport = () => {
    const visibleText = `${harness.logLines.join('\n')}${JSON.stringify(harness.simulator.calls)}`;
    for (const hidden of ['secret words', secret]) expect(visibleText).not.toContain(hidden);
  };

  it('makes a token at the tenant’s endpoint by the secret of the application, and keeps it for later calls', async () => {
    const gateway = await open();
    for (const _ of [1, 2]) expect((await gateway.post(hello('azure'))).status).toBe(200);
    expect(harness.simulator.calls.map(({ headers }) => [headers.authorization, headers['api-key']])).toEqual([
      ['Bearer token-1', undefined],
      ['Bearer token-1', undefined],
    ]);
    expect(paths).toEqual(['/v1/contoso.onmicrosoft.com/oauth2/v2.0/token']);
    expect(requests().map((body) => Object.fromEntries(new URLSearchParams(body)))).toEqual([
      {
        grant_type: 'client_credentials',
        client_id: 'app-1',
        client_secret: secret,
        scope: 'https://cognitiveservices.azure.com/.default',
      },
    ]);
    expect(harness.logLines.join('\n')).not.toContain('token-1');
    expectNoReport();
  });

  it('asks for the scope that the file writes, with a token of its own', async () => {
    const gateway = await open();
    for (const id of ['azure', 'sovereign']) expect((await gateway.post(hello(id))).status).toBe(200);
    expect(requests().map((body) => new URLSearchParams(body).get('scope'))).toEqual([
      'https://cognitiveservices.azure.com/.default',
      'https://cognitiveservices.azure.us/.default',
    ]);
  });

  it('asks once if several calls wait for the same token', async () => {
    const gateway = await open();
    const answers = await Promise.all([1, 2, 3, 4].map(() => gateway.post(hello('azure'))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(requests()).toHaveLength(1);
  });

  it('renews a token before it ends', async () => {
    const clock = manualClock();
    const gateway = await harness.open({ replace: () => ({ credentials: localCredentials(clock) }) });
    answer = tokenAnswer('token-1', 600);
    await gateway.post(hello('azure'));
    clock.advance(299_999);
    await gateway.post(hello('azure'));
    answer = tokenAnswer('token-2', 600);
    clock.advance(1);
    await gateway.post(hello('azure'));
    const authorizations = harness.simulator.calls.map(({ headers }) => headers.authorization);
    expect(authorizations).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });

  it.each(['refuses', 'fails', 'gives-no-token'] as const)(
    'is a failure of that provider if the endpoint %s: another candidate answers, and the next call asks anew',
    async (fault) => {
      answer = faults[fault];
      const response = await harness.post(hello(`${fault}/or-acme`));
      expect(await response.json()).toMatchObject({ usage: { provider: 'acme', attempts: 2 } });
      await harness.settled();
      expect(calledProviders()).toEqual(['acme']);
      expectNoReport();
      answer = tokenAnswer('token-3');
      expect((await harness.post(hello(fault))).status).toBe(200);
    },
  );

  it('is a failure after five seconds if the endpoint hangs: another candidate answers', async () => {
    const clock = manualClock();
    const gateway = await harness.open({ replace: () => ({ credentials: localCredentials(clock) }) });
    answer = 'nothing';
    const responsePromise = gateway.post(hello('hangs/or-acme'));
    await eventually(() => requests().length === 1);
    clock.advance(4_999);
    expect(calledProviders()).toEqual([]);
    clock.advance(1);
    expect(await (await responsePromise).json()).toMatchObject({ usage: { provider: 'acme', attempts: 2 } });
    expect(calledProviders()).toEqual(['acme']);
    expectNoReport();
  });
});
