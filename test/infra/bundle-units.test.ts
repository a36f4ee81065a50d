// Write units of calls through the uploaded bundle, with the variables of the template, by DynamoDB's count.
import { dirname } from 'node:path';
import { expect, it } from '#jest';
import { jsonBody } from '../../infra/bench/measuring-client.ts';
import { gatewayFileText, limitedCall, models, newKeys } from '../../infra/bench/test-bed/bench-file.ts';
import { costOf } from '../../infra/bench/test-bed/measured-calls.ts';
import { startProvider } from '../../infra/bench/test-bed/provider.ts';
import { type StoreRequest, startStoreProxy } from '../../infra/bench/test-bed/store-proxy.ts';
import { lambdaEnvironment } from '../../infra/local/lambda-env.ts';
import { builtBundle } from '../support/built-bundles.ts';
import { startBundledFunction } from '../support/bundled-function.ts';
import { writeUnitsPerCall, writeUnitsWithoutLimits } from '../support/costs.ts';
import { describeOnDynamo, startDynamoTestStore } from '../support/dynamodb.ts';
import { startGatewayBackends } from '../support/gateway-backends.ts';
import { applyGatewayText } from '../support/gateway-file.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';
import { startTask, taskContainerOf } from './task-process.ts';

/** A call counts as ended when there was no request for this long. */
const quietMs = 80;
/** A task gathers statistics for a second, so the test waits a little longer. */
const gatheredMs = 1_100;
const countedCalls = 10;

/** Only requests through the edge have this secret; calls of this test are made without it. */
const edgeVariable = 'GW_ORIGIN_SECRET';

/** Returns the variables with a literal value: values from other resources neither limit nor count anything. */
function templateVariables(): Record<string, string> {
  const functions = resourcesOf(synthesizeStage('prod').api, 'AWS::Lambda::Function');
  const variables = functions.map(
    ({ Properties }) => (Properties.Environment as Environment | undefined)?.Variables ?? {},
  );
  const ofGateway = variables.find((names) => 'GW_STAGE_CONCURRENCY' in names) ?? {};
  return Object.fromEntries(
    Object.entries(ofGateway).flatMap(([name, value]) =>
      typeof value === 'string' && name !== edgeVariable ? [[name, value]] : [],
    ),
  );
}
type Environment = { readonly Variables: Record<string, unknown> };

/** A gateway whose requests to the store are counted, and the function that calls it. */
interface CountedGateway {
  readonly call: (key: string, body: string) => Promise<number>;
  readonly stop: () => Promise<unknown>;
}

type StartCounted = (store: { readonly stage: string; readonly url: string }) => Promise<CountedGateway>;

async function expectUnits(start: StartCounted, quietMs: number): Promise<void> {
  const testStore = await startDynamoTestStore();
  const backends = await startGatewayBackends(testStore);
  const [provider, proxy] = await Promise.all([startProvider(), startStoreProxy(testStore.endpoint)]);
  const keys = newKeys();
  await applyGatewayText(backends.createComposition({ store: testStore.store }), gatewayFileText(provider.url, keys));
  const gateway = await start({ stage: testStore.stage, url: proxy.url });
  const units: number[] = [];
  const unlimited = { key: keys.unlimited, body: jsonBody(models.unlimited) };
  for (const { key, body } of [limitedCall(keys.limited), unlimited]) {
    const storeRequests: StoreRequest[] = [];
    // The first two calls read the data that later calls find in memory.
    for (let n = -2; n < countedCalls; n += 1) {
      expect(await gateway.call(key, String(body))).toBe(200);
      const requests = await proxy.takeRequests(quietMs);
      if (n >= 0) storeRequests.push(...requests);
    }
    units.push(costOf(storeRequests, countedCalls).writeUnits);
  }
  await gateway.stop();
  proxy.stop();
  provider.stop();
  await backends.stop();
  const [everyLimit = NaN, noLimits = NaN] = units;
  expect([everyLimit > 8, everyLimit <= writeUnitsPerCall, everyLimit <= 9.2]).toEqual([true, true, true]);
  expect([noLimits >= 6, noLimits <= writeUnitsWithoutLimits, noLimits <= 6.2]).toEqual([true, true, true]);
}

describeOnDynamo('a call of the uploaded bundle under the variables of the template of prod', () => {
  it('writes at most 9.2 units with every limit, and at most 6.2 by a key without limits', async () => {
    const variables = templateVariables();
    expect(variables).toMatchObject({ GW_STAGE_CONCURRENCY: '500', GW_KEY_REQUESTS_PER_MINUTE: '6000' });
    await expectUnits(async ({ stage, url }) => {
      const env = { ...variables, ...lambdaEnvironment({ stage, dynamodbUrl: url }) };
      const { call, kill } = await startBundledFunction(await builtBundle('gateway'), env);
      return { call, stop: async () => kill() };
    }, quietMs);
  });

  it('writes no more in a task that gets a call a second or fewer', async () => {
    const container = taskContainerOf(synthesizeStage('prod', { compute: 'container' }).api.toJSON());
    const folder = dirname(await builtBundle('container'));
    await expectUnits(async ({ stage, url }) => {
      const task = await startTask({ container, folder, storeUrl: url, stage });
      return {
        async call(key, body) {
          const headers = { ...task.headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
          const response = await fetch(`${task.url}/chat/completions`, { method: 'POST', headers, body });
          await response.text();
          return response.status;
        },
        stop: task.stop,
      };
    }, gatheredMs);
  });
});
