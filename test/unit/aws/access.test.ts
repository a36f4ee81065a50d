import { createHook } from 'node:async_hooks';
import { Agent } from 'node:http';
import { PassThrough } from 'node:stream';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/protocols';
import { isTransientError } from '@smithy/core/retry';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '#jest';
import { defaultProvider } from '../../../infra/build/bundled-credential-chain.ts';
import { SealBroken } from '../../../shared/configuration/byok/index.ts';
import type { ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import type { SocketPool } from '../../../shared/foundation/outgoing/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { maySendAgain } from '../../../shared/storage/aws-clients/attempts.ts';
import { awsAccess, clientSigner } from '../../../shared/storage/aws-clients/index.ts';
import { PooledRequestHandler } from '../../../shared/storage/aws-clients/pooled-request-handler.ts';
import { createDynamoClient, createDynamoStore } from '../../../shared/storage/dynamodb-store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  answer,
  type ScriptedBehaviour,
  type ScriptedServer,
  startScriptedServer,
} from '../../support/scripted-server.ts';
import { awsIdentity, testStage } from './test-stage.ts';

describe('in a bundle', () => {
  const former = { ...process.env };
  let server: ScriptedServer | undefined;
  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    process.env = { ...former };
    await server?.stop();
    server = undefined;
  });

  /** Returns credentials in the form of a container's endpoint. */
  const credentialsOf = (AccessKeyId: string, livesMs: number): ScriptedBehaviour => ({
    status: 200,
    body: {
      AccessKeyId,
      SecretAccessKey: 'secret',
      Token: 'token',
      Expiration: new Date(Date.now() + livesMs).toISOString(),
    },
  });

  async function startContainer(...behaviours: [ScriptedBehaviour, ...ScriptedBehaviour[]]): Promise<ScriptedServer> {
    server = await startScriptedServer(behaviours);
    process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = `${server.endpoint}/credentials`;
    process.env.AWS_CONTAINER_AUTHORIZATION_TOKEN = 'token of the container';
    return server;
  }

  describe('the credentials of a bundle', () => {
    it('are those of its variables, before any container is asked', async () => {
      const container = await startContainer(credentialsOf('OTHER', 3_600_000));
      Object.assign(process.env, {
        AWS_ACCESS_KEY_ID: 'ID',
        AWS_SECRET_ACCESS_KEY: 'secret',
        AWS_SESSION_TOKEN: 'token',
      });
      expect(await defaultProvider()()).toMatchObject({
        accessKeyId: 'ID',
        secretAccessKey: 'secret',
        sessionToken: 'token',
      });
      expect(container.requests).toHaveLength(0);
    });

    it('are asked of the container if no variable holds them, once for as long as they last', async () => {
      const container = await startContainer(credentialsOf('FIRST', 3_600_000));
      const provider = defaultProvider();
      const all = await Promise.all([provider(), provider()]);
      expect([...all, await provider()].map(({ accessKeyId }) => accessKeyId)).toEqual(['FIRST', 'FIRST', 'FIRST']);
      expect(container.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
        ['/credentials', 'token of the container'],
      ]);
    });

    it('are asked for again before they end', async () => {
      const container = await startContainer(credentialsOf('FIRST', 3_600_000), credentialsOf('SECOND', 7_200_000));
      const provider = defaultProvider();
      expect((await provider()).accessKeyId).toBe('FIRST');
      const almostOverMs = Date.now() + 3_600_000 - 299_000;
      jest.spyOn(Date, 'now').mockReturnValue(almostOverMs);
      expect((await provider()).accessKeyId).toBe('SECOND');
      expect((await provider()).accessKeyId).toBe('SECOND');
      expect(container.requests).toHaveLength(2);
    });

    it('may come later: a process that found none asks again', async () => {
      const provider = defaultProvider();
      await expect(provider()).rejects.toMatchObject({ name: 'CredentialsProviderError' });
      await startContainer(credentialsOf('LATER', 3_600_000));
      expect((await provider()).accessKeyId).toBe('LATER');
    });
  });
});

const context = { workspace: 'team-a', connection: 'acme', stage: 'dev' };

describe.each([
  ['nothing of AWS is named', {}],
  ['only a bucket is named', { GW_SPILL_BUCKET: 'gw-dev-spill' }],
])('if %s', (_case, variables: Record<string, string>) => {
  it('no stored connection opens, and none can be sealed', async () => {
    const { wrapper } = testStage(variables);
    await expect(wrapper.unwrap(new Uint8Array(40), context)).rejects.toBeInstanceOf(SealBroken);
    await expect(wrapper.createDataKey(context)).rejects.toThrow('there is no BYOK key');
  });

  it('credentials are variables of the process, at once', async () => {
    const { credentials, lines } = testStage(variables);
    await credentials.ready();
    await credentials.refresh();
    expect(credentials.find({ auth: { bearer: { env: 'PATH' } } } as ProviderDocument)).toEqual({
      headers: { authorization: `Bearer ${process.env.PATH}` },
    });
    expect(credentials.find({ auth: { header: { name: 'x-api-key', env: 'PATH' } } } as ProviderDocument)).toEqual({
      headers: { 'x-api-key': process.env.PATH },
    });
    expect(credentials.find({ auth: { bearer: { secret: 'acme' } } } as ProviderDocument)).toBeUndefined();
    expect(lines).toEqual([]);
  });
});

describe('if no bucket is named', () => {
  it('large results are not stored, in memory neither, and nothing is found', async () => {
    const { blobs } = testStage({});
    await expect(blobs.put('key', new Uint8Array(1))).rejects.toBeInstanceOf(RangeError);
    expect(await blobs.get('key')).toBeUndefined();
  });
});

describe('calls to the services of AWS', () => {
  const former = { ...process.env };
  let server: ScriptedServer;
  beforeEach(async () => {
    const dataKey = { Plaintext: Buffer.alloc(32).toString('base64'), CiphertextBlob: 'c2VhbGVk' };
    server = await startScriptedServer([answer({ ...dataKey, SecretString: '{}' })]);
  });
  afterEach(async () => {
    process.env = { ...former };
    await server.stop();
  });

  /** Services, each with the name in its signature. */
  const services = [
    ['KMS', 'kms', { GW_BYOK_KEY_ID: 'alias/gw-dev' }],
    ['S3', 's3', { GW_SPILL_BUCKET: 'gw-dev-spill' }],
    ['SECRETS_MANAGER', 'secretsmanager', { GW_PROVIDER_SECRET: 'gw/dev/providers' }],
  ] as const;

  async function callAll(variables: Readonly<Record<string, string>>, options = {}): Promise<void> {
    const { wrapper, blobs, credentials } = testStage(variables, options);
    await credentials.ready();
    if ('GW_BYOK_KEY_ID' in variables) await wrapper.createDataKey(context);
    if ('GW_SPILL_BUCKET' in variables) await blobs.get('key');
  }

  it.each(services)('go where AWS_ENDPOINT_URL_%s says, signed for %s', async (name, service, variables) => {
    process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:1';
    process.env[`AWS_ENDPOINT_URL_${name}`] = server.endpoint;
    await callAll({ ...variables, AWS_ENDPOINT_URL: 'set' });
    expect(server.requests).toHaveLength(1);
    const { authorization, ...headers } = server.requests[0]?.headers ?? {};
    expect(authorization).toMatch(
      new RegExp(`^AWS4-HMAC-SHA256 Credential=${awsIdentity.accessKeyId}/\\d{8}/eu-west-1/${service}/aws4_request, `),
    );
    expect(headers['x-amz-security-token']).toBe(awsIdentity.sessionToken);
    expect(JSON.stringify(server.requests)).not.toContain(awsIdentity.secretAccessKey);
  });

  it('go where AWS_ENDPOINT_URL says, without one of their own', async () => {
    process.env.AWS_ENDPOINT_URL = server.endpoint;
    await callAll({ ...services[0][2], ...services[1][2], ...services[2][2], AWS_ENDPOINT_URL: server.endpoint });
    expect(server.requests).toHaveLength(3);
  });

  it('are signed with the credentials of the process if no others are given', async () => {
    process.env.AWS_ENDPOINT_URL = server.endpoint;
    process.env.AWS_ACCESS_KEY_ID = 'AKIAOFTHEPROCESS';
    process.env.AWS_SECRET_ACCESS_KEY = 'secret';
    delete process.env.AWS_PROFILE;
    await callAll(services[2][2], { awsCredentials: undefined });
    expect(server.requests[0]?.headers.authorization).toContain('Credential=AKIAOFTHEPROCESS/');
  });

  it('end in time when the credentials do not arrive', async () => {
    process.env.AWS_ENDPOINT_URL = server.endpoint;
    const clock = manualClock();
    const awaited = Promise.withResolvers<void>();
    const awsCredentials = () => {
      awaited.resolve();
      return new Promise<never>(() => {});
    };
    const { wrapper } = testStage(services[0][2], { clock, awsCredentials });
    const call = wrapper.createDataKey(context);
    // The calls to KMS load their credentials first; their time limit begins after that.
    await awaited.promise;
    clock.advance(800);
    await expect(call).rejects.toThrow('no answer within 800 ms');
    expect(server.requests).toHaveLength(0);
  });
});

describe('a command to DynamoDB', () => {
  const former = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer([answer({})]);
    process.env.AWS_ENDPOINT_URL_DYNAMODB = server.endpoint;
  });
  afterAll(async () => {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = former ?? '';
    await server.stop();
  });

  it('carries the signature that the plain signer of the SDK makes over the same request, each time', async () => {
    const region = 'eu-west-1';
    const client = createDynamoClient(awsAccess({ region, credentials: async () => awsIdentity, clock: systemClock }));
    const store = createDynamoStore({ client, stage: 'dev' });
    for (const pk of ['first', 'second']) await store.put({ table: 'keys', item: { pk } });
    client.destroy();
    const plain = new SignatureV4({ service: 'dynamodb', region, credentials: awsIdentity, sha256: Sha256 });
    expect(server.requests).toHaveLength(2);
    for (const { headers, body } of server.requests) {
      const { authorization = '', connection: _hopByHop, ...otherHeaders } = headers as Record<string, string>;
      const signedNames = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
      expect(signedNames).toEqual(
        expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target']),
      );
      const request = {
        method: 'POST',
        protocol: 'http:',
        hostname: '127.0.0.1',
        path: '/',
        query: {},
        headers: Object.fromEntries(signedNames.map((name) => [name, otherHeaders[name] ?? ''])),
        body,
      };
      const signingDate = new Date(
        (otherHeaders['x-amz-date'] ?? '').replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'),
      );
      const { headers: expected } = await plain.sign(request, { signingDate });
      expect(authorization).toBe(expected.authorization);
    }
  });

  it('finds the endpoint with its first command: a further one makes at most 60 promises, those of its server among them', async () => {
    const client = createDynamoClient(
      awsAccess({ region: 'eu-west-1', credentials: async () => awsIdentity, clock: systemClock }),
    );
    const read = () => client.send(new GetItemCommand({ TableName: 'gw-dev-keys', Key: { pk: { S: 'a' } } }));
    for (let reads = 0; reads < 2; reads += 1) await read();
    let promises = 0;
    const counting = createHook({
      init(_id, type) {
        if (type === 'PROMISE') promises += 1;
      },
    }).enable();
    await read();
    counting.disable();
    client.destroy();
    const hosts = server.requests.slice(-3).map(({ headers }) => headers.host);
    expect(hosts).toEqual(Array(3).fill(new URL(server.endpoint).host));
    expect(promises).toBeLessThanOrEqual(60);
  });
});

describe('the signer of a client', () => {
  const identities = ['first', 'second'].map((name) => ({ accessKeyId: name, secretAccessKey: `secret of ${name}` }));
  const sessions = [...identities, { ...awsIdentity, sessionToken: 'token' }];
  const days = ['2026-11-28T23:59:59.999Z', '2026-11-29T00:00:00.001Z'];
  const requests = fc.array(
    fc.record({
      identity: fc.constantFrom(...sessions),
      signingDate: fc.constantFrom(...days).map((text) => new Date(text)),
      body: fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array()),
      path: fc.constantFrom('/', '/', '/', '/proxied/'),
      more: fc.constantFrom({}, { 'x-amz-meta': '1' }, { accept: '*/*' }),
    }),
    { minLength: 1, maxLength: 8 },
  );

  it('signs as the signer of the SDK does, also after other credentials, another day, other headers and paths', () =>
    fc.assert(
      fc.asyncProperty(requests, async (sequence) => {
        let identity = sessions[0] ?? awsIdentity;
        const region = 'eu-west-1';
        const signer = clientSigner('dynamodb', { region, credentials: async () => identity });
        for (const { body, path, more, signingDate, ...one } of sequence) {
          identity = one.identity;
          const fields = { method: 'POST', protocol: 'https:', hostname: 'db.example', path, query: {}, body };
          const signedHeaders = { host: 'db.example', 'content-type': 'application/x-amz-json-1.0', ...more };
          const { headers } = await signer.sign({ ...fields, headers: { ...signedHeaders } }, { signingDate });
          const { authorization = '', ...otherHeaders }: Record<string, string> = headers;
          const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
          const obliged = Object.keys(otherHeaders).filter((name) => name.startsWith('x-amz-') || name === 'host');
          expect(names).toEqual(expect.arrayContaining(obliged));
          const plain = new SignatureV4({ service: 'dynamodb', region, credentials: identity, sha256: Sha256 });
          const headersSigned = Object.fromEntries(names.map((name) => [name, otherHeaders[name] ?? '']));
          const expected = await plain.sign({ ...fields, headers: headersSigned }, { signingDate });
          expect(authorization).toBe(expected.headers.authorization);
        }
      }),
    ));
});

describe('a request of a client', () => {
  it('that has no connection in time is one to repeat, and leaves no idle socket behind', async () => {
    const openings: unknown[] = [];
    let closings = 0;
    class LateAgent extends Agent {
      override createConnection(options: object) {
        openings.push((options as { readonly connectTimeoutMs?: number }).connectTimeoutMs);
        const socket = new PassThrough();
        queueMicrotask(() => socket.destroy(Object.assign(new Error('late'), { code: 'GW_CONNECT_TIMEOUT' })));
        return socket;
      }
    }
    const pool = { http: new LateAgent(), closeStaleSockets() {}, closeIdleSockets: () => (closings += 1) };
    const handler = new PooledRequestHandler(pool as unknown as SocketPool, 500);
    const request = new HttpRequest({ protocol: 'http:', hostname: 'store.example', method: 'POST', body: '{}' });
    const abortSignal = new AbortController().signal;
    const error = await handler.handle(request, { abortSignal }).then(
      () => undefined,
      (reason) => reason,
    );
    expect([isTransientError(error), maySendAgain(error, 'once'), openings, closings]).toEqual([true, false, [500], 1]);
  });
});
