// Runs the uploaded bundles under Lambda's own runtime client, offline: the calls of `npm run smoke`, and a process
// that survives every fault. It is no test of `npm test`, because the client is compiled when it is installed.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { buildBundles } from '../../build/bundle.ts';
import { startDynamoEngine } from '../../dynamodb-engine/start-engine.ts';
import { lambdaEnvironment } from '../../local/lambda-env.ts';
import { startSimulator } from '../../local/simulator/index.ts';
import { printLine } from '../../run-script.ts';
import { smokeChecks } from '../smoke/checks.ts';
import { expectThat } from '../smoke/smoke-client.ts';
import { runSmoke } from '../smoke.ts';
import { applyFile, projectRoot, Skipped, tryCommand, type VerifyStep } from '../verify-step.ts';
import { rawEventPath, startFunction } from './start-function.ts';

/** Pause between the chunks of the provider: enough for each to leave by itself. */
const paceMs = 10;
/** The model's name chooses the behaviour of the simulator. */
const [model, cutModel, cutSpeech] = ['test/echo', 'test/cut:3', 'test/cut:2'];

export const runtime: VerifyStep = {
  name: 'runtime',
  async run() {
    const client = await findRuntimeClient();
    await buildBundles(projectRoot, join(projectRoot, 'dist'));
    const dynamo = await startDynamoEngine();
    const simulator = await startSimulator({ paceMs });
    const variables = lambdaEnvironment({ stage: 'local', dynamodbUrl: dynamo.endpoint });
    const [gateway, models] = [
      await startFunction({ bundle: 'gateway', client, variables }),
      await startFunction({ bundle: 'models', client, variables }),
    ];
    try {
      const apiKey = await applyFile(gatewayFile(simulator.url), ['--dynamodb', dynamo.endpoint]);
      const options = { baseUrl: `${gateway.url}/v1`, apiKey, model };
      const lines: string[] = [];
      const looksWell = async (when: string) =>
        expectThat(await runSmoke(options, (line) => void lines.push(line)), `${when}: ${lines.at(-1)}`);
      await looksWell('at first');
      await outliveFailures(gateway.url, apiKey);
      // In the same process.
      await looksWell('after failures');
      const { list } = smokeChecks({ ...options, baseUrl: `${models.url}/v1` });
      return `${await list()} by the listing function; the calls of npm run smoke, twice; a refusal, no event, a cut stream, cut speech`;
    } catch (error) {
      const written = `${gateway.output()}${models.output()}`.trimEnd();
      throw new Error(`${error instanceof Error ? error.message : error}\n${written}`, { cause: error });
    } finally {
      for (const { stop } of [gateway, models, simulator, dynamo]) await stop();
    }
  },
};

async function outliveFailures(url: string, key: string): Promise<void> {
  const post = async (path: string, body: object, authorization: string) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.text() };
  };
  const question = { messages: [{ role: 'user', content: 'Hello there' }] };
  const refused = await post('/v1/chat/completions', { ...question, model }, 'Bearer no-key');
  const isEnvelope = refused.status === 401 && JSON.parse(refused.body).error === 'UNAUTHORIZED';
  expectThat(isEnvelope, `a call without a key: ${refused.status} ${refused.body}`);
  const odd = await post(rawEventPath, {}, '');
  expectThat(odd.status >= 400 && odd.status < 500, `what is no event: ${odd.status} ${odd.body}`);
  const cut = await post('/v1/chat/completions', { ...question, model: cutModel, stream: true }, `Bearer ${key}`);
  const isTold = cut.status === 200 && /"error"[^\n]*\n\ndata: \[DONE\]\n\n$/.test(cut.body);
  expectThat(isTold, `a provider that dies in its stream: ${cut.status} ${cut.body.slice(-300)}`);
  const speech = { model: cutSpeech, input: 'Hello there', voice: 'alloy' };
  const whole = await post('/v1/audio/speech', speech, `Bearer ${key}`).catch(() => undefined);
  expectThat(whole === undefined, `a provider that dies in speech, whose client takes it for whole: ${whole?.status}`);
}

const prices = { input_price_per_million: '1.00', output_price_per_million: '2.00', context_length: 128_000 };

const gatewayFile = (providerUrl: string): string =>
  stringify({
    providers: [
      { id: 'acme', base_url: providerUrl, auth: 'none' },
      { id: 'speaker', base_url: providerUrl, auth: 'none', apis: ['speech'] },
    ],
    models: [
      ...[model, cutModel].map((id) => ({ id, auto: id === model, providers: [{ provider: 'acme', ...prices }] })),
      { id: cutSpeech, providers: [{ provider: 'speaker', ...prices, input_price_per_character: '0' }] },
    ],
    workspaces: [{ id: 'team', credit_usd: '100', keys: [{ name: 'first' }] }],
  });

const clientPackage = 'aws-lambda-ric@4.0.2';

/** No project should depend on it: it builds curl from source as it is installed. So it is installed for this step alone. */
async function findRuntimeClient(): Promise<string> {
  const folder = join(projectRoot, 'node_modules/.cache', clientPackage);
  const installed = join(folder, 'node_modules/aws-lambda-ric');
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, clientPackage];
  if (!existsSync(join(installed, 'rapid-client.node'))) {
    printLine(`installing ${clientPackage}, which compiles curl: a few minutes`);
    mkdirSync(folder, { recursive: true });
    const { code, output } = await tryCommand('npm', args);
    const [reason] = output.split('\n').filter((line) => /error:|not (found|installed)/i.test(line));
    if (code !== 0) throw new Skipped(`${clientPackage} cannot be installed here: ${reason ?? output.slice(0, 200)}`);
  }
  return join(installed, 'index.mjs');
}
