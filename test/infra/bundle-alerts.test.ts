// Alerts of the uploaded bundle: a function is frozen after its call, so it sends an alert once, within its settlement.
import { afterAll, beforeAll, expect, it } from '#jest';
import { lambdaEnvironment } from '../../infra/local/lambda-env.ts';
import { builtBundle } from '../support/built-bundles.ts';
import { type BundledFunction, startBundledFunction } from '../support/bundled-function.ts';
import { type DynamoTestStore, describeOnDynamo, startDynamoTestStore } from '../support/dynamodb.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ScriptedBehaviour, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

const priced = { input_price_per_million: '0', output_price_per_million: '1000' };
const acceptance: ScriptedBehaviour = { status: 200, body: 'ok' };
const refusal: ScriptedBehaviour = { status: 500, body: 'no' };

describeOnDynamo('a function that passes a share', () => {
  let bundle: string;
  const stops: (() => unknown)[] = [];
  beforeAll(async () => {
    bundle = await builtBundle('gateway');
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  interface Started {
    readonly testStore: DynamoTestStore;
    readonly harness: Harness;
    readonly receiver: ScriptedServer;
    readonly open: () => Promise<BundledFunction>;
    readonly spend: (gateway: BundledFunction, tokens: number) => Promise<void>;
  }

  async function start(behaviours: readonly [ScriptedBehaviour, ...ScriptedBehaviour[]]): Promise<Started> {
    const receiver = await startScriptedServer(behaviours);
    const testStore = await startDynamoTestStore();
    const route = (tokens: number) => [{ provider: 'acme', upstream: `usage:1:${tokens}`, more: priced }];
    const harness = await startHarness({
      testStore,
      models: { 'acme/100': route(100), 'acme/600': route(600) },
      service: { alerts: { url: { env: 'ALERTS_URL' }, at: [50] } },
      key: { spend_limit_usd: '2' },
      workspace: { credit_usd: '1000' },
    });
    stops.push(
      () => receiver.stop(),
      () => harness.stop(),
    );
    const { endpoint: dynamodbUrl, stage } = testStore;
    const env = { ...lambdaEnvironment({ stage, dynamodbUrl }), ALERTS_URL: receiver.endpoint };
    return {
      ...{ testStore, harness, receiver },
      async open() {
        const gateway = await startBundledFunction(bundle, env);
        stops.push(() => gateway.kill());
        return gateway;
      },
      async spend(gateway, tokens) {
        const body = JSON.stringify(hello(`acme/${tokens}`, { max_tokens: tokens }));
        expect(await gateway.call(harness.key, body)).toBe(200);
      },
    };
  }

  const idsOf = ({ requests }: ScriptedServer) => requests.map(({ body }) => JSON.parse(body).id);

  it('has sent its alert when it ends, and no other function sends it again', async () => {
    const { receiver, open, spend } = await start([acceptance]);
    const [one, other] = [await open(), await open()];
    await spend(one, 600);
    await spend(other, 600);
    expect(receiver.requests).toHaveLength(1);
    for (const gateway of [one, other]) await spend(gateway, 100);
    expect(receiver.requests).toHaveLength(1);
  });

  it('tries once, and the owner’s next calls try again, three times in all, by whichever function', async () => {
    const { receiver, harness, open, spend } = await start([refusal]);
    const [one, other] = [await open(), await open()];
    await spend(one, 600);
    await spend(one, 600);
    expect(receiver.requests).toHaveLength(1);
    await spend(other, 100);
    expect(receiver.requests).toHaveLength(2);
    await spend(one, 100);
    expect(receiver.requests).toHaveLength(3);
    for (const gateway of [one, other]) await spend(gateway, 100);
    expect(receiver.requests).toHaveLength(3);
    expect(new Set(idsOf(receiver)).size).toBe(1);
    expect((await harness.keyItem()).alert).toMatchObject({ percent: 50, tries: 3 });
  });

  it('is left alone once it had a 2xx', async () => {
    const { receiver, harness, open, spend } = await start([refusal, acceptance]);
    const gateway = await open();
    await spend(gateway, 600);
    await spend(gateway, 600);
    await spend(gateway, 100);
    await spend(gateway, 100);
    expect(receiver.requests).toHaveLength(2);
    expect(await harness.keyItem()).not.toHaveProperty('alert.tries');
  });
});
