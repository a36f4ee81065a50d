// Write units of calls through the uploaded bundle, under the variables of the template, by DynamoDB's count.
import { expect, it } from '#jest';
import { writeUnitsPerCall, writeUnitsWithoutLimits } from '../../infra/bench/costs.ts';
import { jsonBody } from '../../infra/bench/measuring-client.ts';
import { limitedCall, models } from '../../infra/bench/test-bed/bench-file.ts';
import { costOf } from '../../infra/bench/test-bed/measured-calls.ts';
import type { StoreRequest } from '../../infra/bench/test-bed/store-proxy.ts';
import { withTestBed } from '../../infra/bench/test-bed/test-bed.ts';
import { writeBundles } from '../../infra/build/write-bundles.ts';
import { lambdaEnvironment } from '../../infra/local/lambda-env.ts';
import { projectRoot } from '../../infra/verify/verify-step.ts';
import { startBundledFunction } from '../support/bundled-function.ts';
import { describeOnDynamo } from '../support/dynamodb.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

/** A call has ended when no request was made for so long. */
const quietMs = 80;
const countedCalls = 10;

/** Those with a value of their own: what the template takes from other resources is nothing that limits or counts. */
function templateVariables(): Record<string, string> {
  const functions = resourcesOf(synthesizeStage('prod').api, 'AWS::Lambda::Function');
  const variables = functions.map(
    ({ Properties }) => (Properties.Environment as Environment | undefined)?.Variables ?? {},
  );
  const ofGateway = variables.find((names) => 'GW_STAGE_CONCURRENCY' in names) ?? {};
  return Object.fromEntries(
    Object.entries(ofGateway).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
type Environment = { readonly Variables: Record<string, unknown> };

describeOnDynamo('a call of the uploaded bundle under the variables of the template of prod', () => {
  it('writes at most 9.2 units with every limit, and at most 5.2 by a key without limits', async () => {
    const output = temporaryFolder();
    const [bundle] = await writeBundles(projectRoot, output, ['gateway']);
    const variables = templateVariables();
    expect(variables).toMatchObject({ GW_STAGE_CONCURRENCY: '500', GW_KEY_REQUESTS_PER_MINUTE: '6000' });
    const units: number[] = [];
    await withTestBed(temporaryFolder(), { portkey: false, litellm: undefined }, async (bed) => {
      const env = { ...variables, ...lambdaEnvironment({ stage: 'local', dynamodbUrl: bed.proxy.url }) };
      const gateway = await startBundledFunction(bundle?.file ?? '', env);
      const unlimited = { key: bed.keys.unlimited, body: jsonBody(models.unlimited) };
      for (const { key, body } of [limitedCall(bed.keys.limited), unlimited]) {
        const written: StoreRequest[] = [];
        // The first two read what the others know.
        for (let n = -2; n < countedCalls; n += 1) {
          expect(await gateway.call(key, String(body))).toBe(200);
          const requests = await bed.proxy.takeRequests(quietMs);
          if (n >= 0) written.push(...requests);
        }
        units.push(costOf(written, countedCalls).writeUnits);
      }
      gateway.kill();
    });
    const [everyLimit = NaN, noLimits = NaN] = units;
    expect([everyLimit > 8, everyLimit <= writeUnitsPerCall, everyLimit <= 9.2]).toEqual([true, true, true]);
    expect([noLimits >= 5, noLimits <= writeUnitsWithoutLimits, noLimits <= 5.2]).toEqual([true, true, true]);
  });
});
