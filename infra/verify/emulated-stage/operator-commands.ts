// Runs an operator's commands on the emulated account, and reads their effects from outside.

import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { apiStackName, dataStackName } from '../../cdk/resource-names.ts';
import type { Simulator } from '../../local/simulator/index.ts';
import { expectThat } from '../smoke/smoke-client.ts';
import { runSmoke } from '../smoke.ts';
import { applyFile, runCommand, runGateway, tryCommand } from '../verify-step.ts';
import { accountVariables, credentials } from './emulated-account.ts';
import type { ProjectCopy } from './project-copy.ts';
import {
  byokKey,
  byokVariable,
  credentialName,
  gatewayFile,
  models,
  providerCredential,
  storedFunction,
} from './stage-file.ts';

/** The deployment calls the stage at its end. */
const askingThroughEmulator = `--require=${join(import.meta.dirname, 'fetch-through-emulator.cjs')}`;
const largeResultBytes = 600_000;
const lookIntervalMs = 500;
const effectMaxMs = 10_000;

export type OperatorCommands = ReturnType<typeof createOperator>;

interface Access {
  readonly emulatorUrl: string;
  readonly region: string;
  readonly project: ProjectCopy;
  readonly simulator: Simulator;
}

export function createOperator({ emulatorUrl, region, project, simulator }: Access) {
  const cwd = project.folder;
  const env = { ...accountVariables(emulatorUrl, region, cwd), [byokVariable]: byokKey };
  const deployEnv = { ...env, NODE_OPTIONS: askingThroughEmulator };
  const deployArgs = (stage: string, flags: readonly string[]) =>
    ['run', '--silent', 'deploy', '--', '--stage', stage, '--yes', ...flags] as const;
  const view = openAccount(emulatorUrl, region);
  const { send, readStack } = view;
  const baseUrlOf = async (stage: string) => (await readStack(apiStackName(stage))).outputs.BaseUrl ?? '';
  const lastAuthorization = () => simulator.calls.at(-1)?.headers.authorization;

  return {
    ...view,
    bootstrap: (environment: string) => runCommand('npx', ['cdk', 'bootstrap', environment], { cwd, env }),
    deploy: (stage: string, ...flags: string[]) => runCommand('npm', deployArgs(stage, flags), { cwd, env: deployEnv }),
    tryDeploy: (stage: string, more: Readonly<Record<string, string>> = {}) =>
      tryCommand('npm', deployArgs(stage, []), { cwd, env: { ...deployEnv, ...more } }),
    tryDestroy: (stage: string) => tryCommand('npx', ['cdk', 'destroy', `${stage}/*`, '--force'], { cwd, env }),
    async destroy(stage: string): Promise<void> {
      const { code, output } = await this.tryDestroy(stage);
      expectThat(code === 0, `destroy failed: ${output.slice(-500)}`);
    },
    /** Stores credential and gateway file with the command line. Returns the API key that it prints. */
    async configure(stage: string): Promise<string> {
      const place = ['--stage', stage];
      const input = providerCredential;
      await runGateway(['credentials', 'set', credentialName, '--yes', ...place], { cwd, env, input });
      return applyFile(gatewayFile(simulator), place, { cwd, env });
    },
    gateway: (stage: string, ...args: string[]) => runGateway([...args, '--stage', stage], { cwd, env }),
    /** A change reaches a process within five seconds. */
    async expectStatus(stage: string, apiKey: string, wanted: number, otherwise: string): Promise<void> {
      const baseUrl = await baseUrlOf(stage);
      const headers = { authorization: `Bearer ${apiKey}` };
      for (let waitedMs = 0; ; waitedMs += lookIntervalMs) {
        const { status } = await send(`${baseUrl}/models`, { headers });
        if (status === wanted) return;
        expectThat(waitedMs < effectMaxMs, `${otherwise}: ${status}`);
        await sleep(systemClock, lookIntervalMs);
      }
    },
    /** Makes the calls of `npm run smoke` through the base URL; credentials are checked where they arrive. */
    async smoke(stage: string, apiKey: string): Promise<void> {
      const baseUrl = await baseUrlOf(stage);
      const lines: string[] = [];
      // The emulator buffers streams.
      const options = { baseUrl, apiKey, model: models.withCredential, storedFunction, send, streamsArrive: false };
      const passed = await runSmoke(options, (line) => void lines.push(line));
      expectThat(passed, `smoke: ${lines.at(-1)}`);
      expectThat(lastAuthorization() === `Bearer ${providerCredential}`, 'the credential did not reach the provider');
      const caller = { send, baseUrl, apiKey };
      await replayFromBucket(view, stage, caller);
      await call(caller, { model: models.withByok, messages: [{ role: 'user', content: 'Hello' }] });
      expectThat(lastAuthorization() === `Bearer ${byokKey}`, 'the key of the connection did not reach the provider');
    },
  };
}

/** Opens the account as seen from outside. */
function openAccount(emulatorUrl: string, region: string) {
  const clientSettings = { endpoint: emulatorUrl, region, credentials };
  const dynamo = new DynamoDBClient(clientSettings);
  const describe = async (path: string) => (await fetch(`${emulatorUrl}/${path}`)).json() as Promise<Document>;

  async function readStack(name: string): Promise<{ stack: Stack | undefined; outputs: Record<string, string> }> {
    const { Stacks: [stack] = [] } = await new CloudFormationClient(clientSettings).send(
      new DescribeStacksCommand({ StackName: name }),
    );
    const outputs = (stack?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
    return { stack, outputs: Object.fromEntries(outputs) };
  }

  return {
    s3: new S3Client({ ...clientSettings, forcePathStyle: true }),
    dynamo,
    send: fetchThrough(emulatorUrl),
    readStack,
    tables: async (stage: string): Promise<string[]> => {
      const { TableNames: names = [] } = await dynamo.send(new ListTablesCommand({}));
      return names.filter((name) => name.startsWith(`gw-${stage}-`));
    },
    async readSecret(SecretId: string | undefined): Promise<string> {
      const read = new GetSecretValueCommand({ SecretId });
      const { SecretString = '' } = await new SecretsManagerClient(clientSettings).send(read);
      return SecretString;
    },
    /** Returns the versions that are called now, of the chat function and of the list of models. */
    async versions(stage: string): Promise<string[]> {
      const { ChatFunctionName: chat, ModelsFunctionName: list } = (await readStack(apiStackName(stage))).outputs;
      const aliases = [chat, list].map((name) => describe(`2015-03-31/functions/${name}/aliases/live`));
      return (await Promise.all(aliases)).map(({ FunctionVersion }) => String(FunctionVersion));
    },
    /** Returns Lambda's own view of the chat function. */
    async readFunction(stage: string): Promise<{ memoryMb: number; url: string }> {
      const { ChatFunctionName: name } = (await readStack(apiStackName(stage))).outputs;
      const { MemorySize } = await describe(`2015-03-31/functions/${name}/configuration`);
      const { FunctionUrl } = await describe(`2021-10-31/functions/${name}/url?Qualifier=live`);
      return { memoryMb: Number(MemorySize), url: String(FunctionUrl) };
    },
  };
}

interface Caller {
  readonly send: typeof fetch;
  readonly baseUrl: string;
  readonly apiKey: string;
}

async function call({ send, baseUrl, apiKey }: Caller, body: object, more: Readonly<Record<string, string>> = {}) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...more };
  const answer = await send(`${baseUrl}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  expectThat(answer.status === 200, `${answer.status} ${text.slice(0, 300)} to ${JSON.stringify(body).slice(0, 100)}`);
  return { text, isReplay: answer.headers.get('idempotent-replayed') === 'true' };
}

/**
 * Reads a result from the bucket, because it is too large for an item. The client of the bucket is loaded on demand.
 */
async function replayFromBucket(
  { s3, readStack }: ReturnType<typeof openAccount>,
  stage: string,
  caller: Caller,
): Promise<void> {
  // The text is incompressible, so that it exceeds the size of an item.
  const content = systemRandomness.bytes(largeResultBytes).toString('base64');
  const body = { model: models.withLargeAnswers, messages: [{ role: 'user', content }] };
  const header = { 'idempotency-key': systemRandomness.uuid() };
  const first = await call(caller, body, header);
  const second = await call(caller, body, header);
  expectThat(second.isReplay && second.text === first.text, 'a large result is not given again');
  const { SpillBucketName: Bucket } = (await readStack(dataStackName(stage))).outputs;
  const { KeyCount = 0 } = await s3.send(new ListObjectsV2Command({ Bucket }));
  expectThat(KeyCount > 0, 'a large result is not in the bucket');
}

type Document = Readonly<Record<string, unknown>>;

// Makes calls to the names of distributions and function URLs, which only the emulator resolves.

/** Returns a `fetch` that sends every request to the emulator, with the intended host in its header. */
const fetchThrough =
  (emulatorUrl: string): typeof fetch =>
  (url, init = {}) =>
    new Promise((resolve, reject) => {
      const { host, pathname, search } = new URL(String(url));
      const { hostname, port } = new URL(emulatorUrl);
      const headers = { ...(init.headers as Record<string, string>), host, 'x-forwarded-proto': 'https' };
      const { method = 'GET', signal } = init;
      const options = { hostname, port, path: `${pathname}${search}`, method, headers, ...(signal ? { signal } : {}) };
      const request = httpRequest(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => void chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0 } = response;
          resolve(new Response(Buffer.concat(chunks), { status, headers: new Headers(response.headers as never) }));
        });
      });
      request.on('error', reject);
      request.end(init.body as string | undefined);
    });
