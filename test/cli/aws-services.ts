// AWS services for the command line: the embedded DynamoDB behind a proxy, and servers for STS, KMS, Secrets Manager
// and S3 that answer its requests. Every call is noted with the resource that it names.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface AwsCall {
  /** An action in the notation of IAM policies, such as `dynamodb:GetItem`. */
  readonly action: string;
  /** The table, the secret, the alias of the key, or the bucket and key of an object; empty for STS. */
  readonly resource: string;
  /** The access key and the region of the signature, such as `local eu-west-1`. */
  readonly signedBy: string;
}

export interface AwsServices {
  readonly url: string;
  readonly calls: AwsCall[];
  /** Texts of the secrets by name. */
  readonly secrets: Map<string, string>;
  /** Every text that was written to a secret. */
  readonly secretWrites: string[];
  /** Objects by bucket and key, as `bucket/key`. */
  readonly objects: Map<string, Uint8Array>;
  /** Environment variables that sign a shell in and send its AWS calls to these servers. */
  readonly variables: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export const account = '123456789012';

type Body = Readonly<Record<string, string>>;

const serviceOf: Readonly<Record<string, string>> = {
  DynamoDB_20120810: 'dynamodb',
  secretsmanager: 'secretsmanager',
  TrentService: 'kms',
};

export async function startAwsServices(dynamodbUrl: string): Promise<AwsServices> {
  const calls: AwsCall[] = [];
  const secrets = new Map<string, string>();
  const secretWrites: string[] = [];
  const objects = new Map<string, Uint8Array>();
  const answers: Readonly<Record<string, (body: Body) => object>> = {
    'secretsmanager:GetSecretValue': ({ SecretId = '' }) =>
      secrets.has(SecretId) ? { SecretString: secrets.get(SecretId) } : { __type: 'ResourceNotFoundException' },
    'secretsmanager:PutSecretValue': ({ SecretId = '', SecretString = '' }) => {
      secrets.set(SecretId, SecretString);
      secretWrites.push(SecretString);
      return {};
    },
    'kms:GenerateDataKey': () => {
      const key = randomBytes(32).toString('base64');
      return { Plaintext: key, CiphertextBlob: key };
    },
    'kms:Decrypt': ({ CiphertextBlob }) => ({ Plaintext: CiphertextBlob }),
  };
  const server = createServer(async (request, response) => {
    const body = await readAll(request);
    const [, accessKey, region] = /Credential=([^/]+)\/\d+\/([^/]+)\//.exec(request.headers.authorization ?? '') ?? [];
    const signedBy = `${accessKey} ${region}`;
    const [family = '', operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
    if (request.method === 'GET') {
      const resource = new URL(request.url ?? '', url).pathname.slice(1);
      calls.push({ action: 's3:GetObject', resource, signedBy });
      const object = objects.get(resource);
      return response.writeHead(object === undefined ? 404 : 200).end(object);
    }
    if (family === '') {
      calls.push({ action: 'sts:GetCallerIdentity', resource: '', signedBy });
      return response.writeHead(200, { 'content-type': 'text/xml' }).end(callerIdentity);
    }
    const action = `${serviceOf[family]}:${operation}`;
    const input = JSON.parse(body.toString()) as Body;
    calls.push({ action, resource: input.TableName ?? input.SecretId ?? input.KeyId ?? '', signedBy });
    if (family.startsWith('DynamoDB')) {
      const headers = Object.fromEntries(
        ['content-type', 'x-amz-target', 'authorization', 'x-amz-date'].map((name) => [
          name,
          String(request.headers[name]),
        ]),
      );
      const answer = await fetch(dynamodbUrl, { method: 'POST', headers, body: new Uint8Array(body) });
      return response
        .writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' })
        .end(await answer.text());
    }
    const answer = answers[action]?.(input) ?? { __type: 'UnknownOperationException' };
    response.writeHead('__type' in answer ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
    return response.end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoints = ['DYNAMODB', 'SECRETS_MANAGER', 'STS', 'KMS', 'S3'].map((name) => [
    `AWS_ENDPOINT_URL_${name}`,
    url,
  ]);
  return {
    url,
    calls,
    secrets,
    secretWrites,
    objects,
    variables: {
      ...Object.fromEntries(endpoints),
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_REGION: 'eu-west-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    },
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

const callerIdentity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::${account}:user/operator</Arn><UserId>AIDA</UserId><Account>${account}</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>`;
