// KMS, S3 and Secrets Manager as an emulated AWS answers them (moto, which checks signatures), called by the bundle that is
// uploaded, under Lambda's own runtime client, after the operator prepared the stage with the command line.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateAliasCommand, CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { stringify } from 'yaml';
import { environmentNames, routePaths } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { createDynamoClient } from '../../shared/storage/store/index.ts';
import { buildBundles } from '../build/bundle.ts';
import { type Answer, readStreamed } from '../build/runtime-test/read-delivery.ts';
import { findRuntimeClient } from '../build/runtime-test/runtime-client.ts';
import { startFunction } from '../build/runtime-test/start-function.ts';
import { connectionKeyAlias, providerSecretName, spillBucketName } from '../cdk/resource-names.ts';
import { createTables } from '../local/create-tables.ts';
import { startEmbeddedDynamo } from '../local/embedded-dynamodb.ts';
import { startEmulator } from './emulator.ts';
import { projectRoot, pythonProgram, runCommand, Skipped, type Step } from './step.ts';

const stage = 'verify';
const account = '123456789012';
const region = 'us-east-1';
/** A refused credential makes the gateway read the secret again, but not within ten seconds of the last time. */
const rotationSecondsMax = 20;

interface Provider {
  readonly url: string;
  /** The credential of each call, in their order. */
  readonly seen: string[];
  /** The only credential that is accepted for /acme. */
  accepted: string;
  close(): void;
}

/** Answers with half a megabyte that hardly shrinks, so that a stored result does not fit into an item. */
async function startProvider(): Promise<Provider> {
  const seen: string[] = [];
  const state = { accepted: 'first-credential' };
  const server = createServer((request, response) => {
    const credential = String(request.headers.authorization).replace('Bearer ', '');
    seen.push(credential);
    const isRefused = request.url?.startsWith('/acme') === true && credential !== state.accepted;
    const message = { role: 'assistant', content: systemRandomness.bytes(400_000).toString('base64') };
    const answer = {
      object: 'chat.completion',
      choices: [{ index: 0, finish_reason: 'stop', message }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isRefused ? { error: { message: 'wrong key' } } : answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, { url: `http://127.0.0.1:${port}`, seen, close: () => void server.close() });
}

const gatewayFile = (providerUrl: string) => {
  const model = (provider: string) => ({
    id: `${provider}/large`,
    display_name: provider,
    created: 1_760_000_000,
    context_length: 128_000,
    modalities: ['text'],
    providers: [
      {
        provider,
        upstream_model: 'large',
        input_price_per_million: '1.00',
        output_price_per_million: '2.00',
        context_length: 128_000,
        max_output_tokens: 4_096,
        supported_params: { tools: true, vision: true, json_mode: true, json_schema: true },
      },
    ],
  });
  return stringify({
    providers: [
      { id: 'acme', display_name: 'Acme', base_url: `${providerUrl}/acme/v1`, auth: { bearer: { secret: 'acme' } } },
      { id: 'bolt', display_name: 'Bolt', base_url: `${providerUrl}/bolt/v1`, auth: 'none' },
    ],
    models: [model('acme'), model('bolt')],
    workspaces: [
      {
        id: 'team',
        credit_usd: '10',
        features: { byok: true },
        byok: { connections: [{ provider: 'bolt', key: { env: 'GW_VERIFY_BYOK_KEY' }, policy: 'allowed' }] },
        keys: [{ name: 'first' }],
      },
    ],
  });
};

function check(isTrue: boolean, text: string): void {
  if (!isTrue) throw new Error(text);
}

async function iam<Result>(url: string, parameters: Record<string, string>, pattern: RegExp): Promise<Result> {
  const body = new URLSearchParams({ Version: '2010-05-08', UserName: 'verify', ...parameters }).toString();
  const authorization = `AWS4-HMAC-SHA256 Credential=none/20260101/${region}/iam/aws4_request`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization };
  const text = await (await fetch(url, { method: 'POST', headers, body })).text();
  const groups = pattern.exec(text)?.groups;
  if (groups === undefined) throw new Error(`moto answered ${text.slice(0, 200)}`);
  return groups as Result;
}

/** A user that may do everything. From then on moto refuses calls without a right signature. */
async function createUser(url: string) {
  await iam(url, { Action: 'CreateUser' }, /(?<name>verify)/);
  const statement = { Effect: 'Allow', Action: '*', Resource: '*' };
  const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await iam(url, { Action: 'PutUserPolicy', PolicyName: 'all', PolicyDocument }, /(?<done>PutUserPolicyResponse)/);
  const created = await iam<{ accessKeyId: string; secretAccessKey: string }>(
    url,
    { Action: 'CreateAccessKey' },
    /<AccessKeyId>(?<accessKeyId>[^<]+)<[\s\S]*<SecretAccessKey>(?<secretAccessKey>[^<]+)</,
  );
  await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', body: '0' });
  return created;
}

async function run(): Promise<string> {
  const runtime = await findRuntimeClient(() => {});
  if (runtime.kind === 'absent') throw new Skipped(`Lambda's runtime client is not here: ${runtime.reason}`);
  const program = await pythonProgram('moto[server]==5.2.1', 'moto_server');
  await buildBundles(projectRoot, join(projectRoot, 'dist'));
  const stops: (() => Promise<void> | void)[] = [];
  try {
    const argsOf = (port: number) => ['--host', '127.0.0.1', '--port', String(port)];
    const moto = await startEmulator({ program, argsOf });
    stops.push(() => moto.stop());
    const dynamo = await startEmbeddedDynamo({ log: () => {} });
    stops.push(() => dynamo.stop());
    const provider = await startProvider();
    stops.push(() => provider.close());

    const credentials = await createUser(moto.url);
    const access = { endpoint: moto.url, region, credentials };
    const kms = new KMSClient(access);
    const { KeyMetadata: { KeyId = '', Arn: keyArn = '' } = {} } = await kms.send(new CreateKeyCommand({}));
    await kms.send(new CreateAliasCommand({ AliasName: connectionKeyAlias(stage), TargetKeyId: KeyId }));
    const s3 = new S3Client({ ...access, forcePathStyle: true });
    const bucket = spillBucketName(stage, account, region);
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    const secret = { Name: providerSecretName(stage), SecretString: '{}' };
    const { ARN: secretArn = '' } = await new SecretsManagerClient(access).send(new CreateSecretCommand(secret));
    const tables = createDynamoClient({ endpoint: dynamo.endpoint });
    await createTables(tables, stage);
    tables.destroy();

    const endpoints = {
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: dynamo.endpoint,
      AWS_ENDPOINT_URL_KMS: moto.url,
      AWS_ENDPOINT_URL_S3: moto.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: moto.url,
      AWS_ENDPOINT_URL_STS: moto.url,
    };
    const env = { ...endpoints, GW_VERIFY_BYOK_KEY: 'byok-key' };
    const gw = (args: readonly string[], input = '') =>
      runCommand('npm', ['run', '--silent', 'gw', '--', ...args, '--stage', stage], { env, input });
    const file = join(mkdtempSync(join(tmpdir(), 'gw-verify-')), 'gateway.yaml');
    writeFileSync(file, gatewayFile(provider.url));
    await gw(['credentials', 'set', 'acme', '--yes'], 'first-credential');
    const [key = ''] = /sk-gw-[\w-]+/.exec(await gw(['apply', '-f', file, '--yes'])) ?? [];

    const target = await startFunction({
      name: 'gateway',
      client: runtime.main,
      stage,
      dynamodbUrl: dynamo.endpoint,
      variables: {
        ...endpoints,
        [environmentNames.byokKeyId]: keyArn,
        [environmentNames.spillBucket]: bucket,
        [environmentNames.providerSecret]: secretArn,
      },
    });
    stops.push(() => target.stop());
    const chat = async (model: string, headers: Record<string, string> = {}): Promise<Answer> => {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
      const http = {
        method: 'POST',
        path: `/v1${routePaths.chatCompletions}`,
        sourceIp: '127.0.0.1',
        userAgent: 'verify',
      };
      const answer = readStreamed(
        await target.invoke({
          version: '2.0',
          rawPath: http.path,
          rawQueryString: '',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
          requestContext: { http, timeEpoch: systemClock.nowMs() },
          body,
          isBase64Encoded: false,
        }),
      );
      check(answer.status === 200, `${model}: ${answer.status} ${answer.body.slice(0, 300)}`);
      return answer;
    };

    await chat('bolt/large');
    check(provider.seen.at(-1) === 'byok-key', 'the stored connection was not opened');
    const once = { 'idempotency-key': systemRandomness.uuid() };
    const [first, second] = [await chat('acme/large', once), await chat('acme/large', once)];
    check(provider.seen.at(-1) === 'first-credential', 'the credential of the secret was not sent');
    check(second.headers['idempotent-replayed'] === 'true' && second.body === first.body, 'the replay differs');
    check(provider.seen.length === 2, 'the provider was called for a replay');
    const { KeyCount } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
    check(KeyCount === 1, `the bucket holds ${KeyCount} objects`);
    await gw(['credentials', 'set', 'acme', '--yes'], 'second-credential');
    provider.accepted = 'second-credential';
    for (let tried = 0; tried < rotationSecondsMax && provider.seen.at(-1) !== 'second-credential'; tried += 1) {
      await chat('acme/large').catch(() => sleep(systemClock, 1_000));
    }
    check(provider.seen.at(-1) === 'second-credential', 'the new credential is not used');
    return 'a stored connection opened by KMS, a result spilled to S3 and replayed, a secret rotated; all calls signed';
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

export const awsServices: Step = { name: 'services', run };
