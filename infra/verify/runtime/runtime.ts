// Runs the uploaded bundles under Lambda's own runtime client, offline: the calls of `npm run smoke`, and a process
// that survives every fault. It is not part of `npm test`, because the client is compiled when it is installed.

import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { buildBundles } from '../../build/bundle.ts';
import { startDynamoEngine } from '../../dynamodb-engine/start-engine.ts';
import { spawnBoundChild } from '../../local/bound-child.ts';
import { lambdaEnvironment } from '../../local/lambda-env.ts';
import { startSimulator } from '../../local/simulator/index.ts';
import { printLine } from '../../run-script.ts';
import { smokeChecks } from '../smoke/checks.ts';
import { expectThat } from '../smoke/smoke-client.ts';
import { runSmoke } from '../smoke.ts';
import { applyFile, projectRoot, Skipped, tryCommand, type VerifyStep } from '../verify-step.ts';

/** Pause between the provider's chunks, which is long enough for each chunk to be sent by itself. */
const paceMs = 10;
/** Models; the name selects the behaviour of the simulator. */
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
      // This call runs in the same process.
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
  const refusal = await post('/v1/chat/completions', { ...question, model }, 'Bearer no-key');
  const isEnvelope = refusal.status === 401 && JSON.parse(refusal.body).error === 'UNAUTHORIZED';
  expectThat(isEnvelope, `a call without a key: ${refusal.status} ${refusal.body}`);
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

/**
 * Finds the runtime client. No project should depend on it, because it builds curl from source when it is installed. So
 * it is installed for this step alone.
 */
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

// Runs one execution environment of Lambda with a URL: the runtime client with a bundle as a child process, and the
// server that Lambda runs in addition to every function. A request to the URL becomes an event, and the function's
// output becomes the answer, as it arrives.

const host = '127.0.0.1';
const runtimePath = '/2018-06-01/runtime/';
/** Path of requests whose body is the event itself. */
const rawEventPath = '/raw-event';
/** Lambda's limit for a function. */
const invocationMaxMs = 65_000;
/** Type of an answer with status and headers before eight NUL bytes, and the body after them. */
const streamedType = 'application/vnd.awslambda.http-integration-response';
const preludeEnd = Buffer.alloc(8);

interface FunctionOptions {
  /** Folder of the bundle in dist. */
  readonly bundle: string;
  /** Main file of the runtime client. */
  readonly client: string;
  readonly variables: Readonly<Record<string, string>>;
}

async function startFunction({ bundle, client, variables }: FunctionOptions) {
  const waiting: { readonly event: string; readonly answer: ServerResponse }[] = [];
  const running = new Map<string, ServerResponse>();
  let idle: ServerResponse | undefined;

  const handOut = () => {
    const next = idle === undefined ? undefined : waiting.shift();
    if (next === undefined) return;
    const id = systemRandomness.uuid();
    running.set(id, next.answer);
    idle?.writeHead(200, invocationHeaders(id)).end(next.event);
    idle = undefined;
  };
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    if (path === `${runtimePath}invocation/next`) {
      idle = response;
      return handOut();
    }
    if (!path.startsWith(runtimePath)) {
      const body = await text(request);
      waiting.push({ event: path === rawEventPath ? body : JSON.stringify(eventOf(request, body)), answer: response });
      return handOut();
    }
    const [, id = '', kind] = /\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    const answer = running.get(id);
    running.delete(id);
    // The process died on this event, or the event failed. In both cases a client's answer ends too early.
    if (answer !== undefined && kind === 'response') await relay(request, answer).catch(() => answer.destroy());
    else answer?.destroy();
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
  });
  await once(server.listen(0, host), 'listening');
  const address = `${host}:${(server.address() as AddressInfo).port}`;
  // Other variables of this terminal are omitted, because Lambda does not have them either.
  const env = { ...environmentOf(bundle, address), ...variables };
  const child = spawnBoundChild(process.execPath, [client, 'index.handler'], { env });
  const written: string[] = [];
  for (const pipe of [child.process.stdout, child.process.stderr]) {
    pipe?.on('data', (chunk: Buffer) => void written.push(chunk.toString('utf8')));
  }
  // Waiting and later clients notice it by their connection.
  child.process.once('exit', () => server.close().closeAllConnections());
  return {
    url: `http://${address}`,
    /** Returns the output of the process, with its log lines. */
    output: () => written.join(''),
    stop: () => child.stop(),
  };
}

const environmentOf = (bundle: string, address: string) => ({
  AWS_LAMBDA_RUNTIME_API: address,
  _HANDLER: 'index.handler',
  LAMBDA_TASK_ROOT: join(projectRoot, 'dist', bundle),
  AWS_LAMBDA_FUNCTION_NAME: `gw-test-${bundle}`,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
  AWS_LAMBDA_LOG_GROUP_NAME: 'gw-test',
  AWS_LAMBDA_LOG_STREAM_NAME: 'gw-test',
});

const invocationHeaders = (id: string) => ({
  'content-type': 'application/json',
  'lambda-runtime-aws-request-id': id,
  'lambda-runtime-deadline-ms': String(systemClock.nowMs() + invocationMaxMs),
  'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:gw-test',
});

/** Returns the event that a function URL makes of a request. */
function eventOf({ method, url = '', headers }: IncomingMessage, body: string): object {
  const [rawPath, rawQueryString = ''] = url.split('?');
  const http = { method, path: rawPath, sourceIp: host, userAgent: 'verify' };
  const requestContext = { http, timeEpoch: systemClock.nowMs() };
  const bodyField = body === '' ? {} : { body };
  return { version: '2.0', rawPath, rawQueryString, headers, requestContext, ...bodyField, isBase64Encoded: false };
}

/** Relays the answer. Throws if a function URL would answer 502. */
async function relay(delivery: IncomingMessage, answer: ServerResponse): Promise<void> {
  if (delivery.headers['content-type'] !== streamedType) {
    const { statusCode, headers, body } = JSON.parse(await text(delivery));
    return void answer.writeHead(statusCode, headers).end(body);
  }
  let prelude = Buffer.alloc(0);
  for await (const chunk of delivery) {
    if (answer.headersSent) answer.write(chunk);
    else {
      prelude = Buffer.concat([prelude, chunk]);
      const end = prelude.indexOf(preludeEnd);
      if (end < 0) continue;
      const { statusCode, headers } = JSON.parse(prelude.toString('utf8', 0, end));
      answer.writeHead(statusCode, headers).write(prelude.subarray(end + preludeEnd.length));
    }
  }
  const failure = delivery.trailers['lambda-runtime-function-error-type'];
  if (failure !== undefined || !answer.headersSent) throw new Error(`the function failed: ${failure}`);
  answer.end();
}
