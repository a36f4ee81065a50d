// Write units of calls through the uploaded bundle, under the variables of the template, by DynamoDB's count.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
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

/** The runtime's part: one event at a time, an answer when the handler has ended. */
const runtime = `
  import { PassThrough } from 'node:stream';
  globalThis.awslambda = {
    streamifyResponse: (handler) => async (event, context) => {
      const stream = new PassThrough();
      const body = new Response(stream).text();
      await handler(event, stream, context);
      await body;
      return stream.prelude.statusCode;
    },
    HttpResponseStream: { from: (stream, prelude) => Object.assign(stream, { prelude }) },
  };
  const { handler } = await import(process.argv[1]);
  process.on('message', async ({ key, body }) => {
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' };
    const http = { method: 'POST', sourceIp: '127.0.0.1' };
    const event = { rawPath: '/v1/chat/completions', rawQueryString: '', headers, body, requestContext: { http, timeEpoch: Date.now() } };
    process.send(await handler(event, { getRemainingTimeInMillis: () => 60_000 }));
  });
  process.send('ready');`;

describeOnDynamo('a call of the uploaded bundle under the variables of the template of prod', () => {
  it('writes at most 9.2 units with every limit, and at most 5.2 by a key without limits', async () => {
    const output = temporaryFolder();
    const [bundle] = await writeBundles(projectRoot, output, ['gateway']);
    const variables = templateVariables();
    expect(variables).toMatchObject({ GW_STAGE_CONCURRENCY: '500', GW_KEY_REQUESTS_PER_MINUTE: '6000' });
    const units: number[] = [];
    await withTestBed(temporaryFolder(), { portkey: false, litellm: undefined }, async (bed) => {
      const file = join(dirname(bundle?.file ?? ''), 'index.mjs');
      const env = { ...variables, ...lambdaEnvironment({ stage: 'local', dynamodbUrl: bed.proxy.url }) };
      const child = spawn(process.execPath, ['--input-type=module', '--eval', runtime, file], {
        ...{ env, cwd: dirname(file), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
      });
      const answer = async (): Promise<unknown> => (await once(child, 'message'))[0];
      expect(await answer()).toBe('ready');
      const unlimited = { key: bed.keys.unlimited, body: jsonBody(models.unlimited) };
      for (const { key, body } of [limitedCall(bed.keys.limited), unlimited]) {
        const written: StoreRequest[] = [];
        // The first two read what the others know.
        for (let n = -2; n < countedCalls; n += 1) {
          const answered = answer();
          child.send({ key, body: String(body) });
          expect(await answered).toBe(200);
          const requests = await bed.proxy.takeRequests(quietMs);
          if (n >= 0) written.push(...requests);
        }
        units.push(costOf(written, countedCalls).writeUnits);
      }
      child.kill();
    });
    const [everyLimit = NaN, noLimits = NaN] = units;
    expect([everyLimit > 8, everyLimit <= writeUnitsPerCall, everyLimit <= 9.2]).toEqual([true, true, true]);
    expect([noLimits >= 5, noLimits <= writeUnitsWithoutLimits, noLimits <= 5.2]).toEqual([true, true, true]);
  });
});
