// The roles of the functions are compared with the calls that a running gateway makes: a missing permission would be an
// outage that only AWS shows, and a superfluous one would not be noticed at all.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createGateway } from '../../functions/gateway/routes.ts';
import { createOperatorGateway } from '../../functions/operator/routes.ts';
import {
  gatewayTableActions,
  modelsTableActions,
  operatorTableActions,
  type TableAction,
  type TableActions,
} from '../../infra/cdk/constructs/table-actions.ts';
import { spillBucketName } from '../../infra/cdk/resource-names.ts';
import { localAdapters } from '../../infra/local/open-composition.ts';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import {
  type Composition,
  type CompositionOptions,
  createComposition,
  createOperatorComposition,
  warmGateway,
  warmModels,
} from '../../shared/composition/index.ts';
import { createOperator } from '../../shared/configuration/administration/index.ts';
import { applyGatewayFile, readGatewayFile } from '../../shared/configuration/gateway-file/index.ts';
import { tableNames } from '../../shared/foundation/constants/index.ts';
import { readVariable } from '../../shared/foundation/environment/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { callGateway } from '../support/call-gateway.ts';
import { ask, prompt } from '../support/function-calls.ts';
import { gatewayFileText, newKey } from '../support/gateway-file.ts';
import { hello } from '../support/harness.ts';
import { startTestSimulator } from '../support/test-simulator.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';
import { aroundStore, type StoreCall } from '../support/wrapped-store.ts';
import { type AwsCall, functionPolicy, ResourcePolicy, RolePolicy } from './policy-evaluation.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

const account = '111122223333';
const region = 'eu-west-1';
const keyArn = `arn:aws:kms:${region}:${account}:key/1234abcd`;
const secretArn = `arn:aws:secretsmanager:${region}:${account}:secret:gw/prod/providers-a1B2c3`;
const tableArn = (table: string, stage = 'prod') => `arn:aws:dynamodb:${region}:${account}:table/gw-${stage}-${table}`;
const onObject = (action: string, key: string): AwsCall => ({
  action: `s3:${action}`,
  resource: objectArn(key),
  context: { 'aws:ResourceAccount': account },
});
const objectArn = (key: string) => `arn:aws:s3:::${spillBucketName('prod', account, region)}/${key}`;
const inAccount = (reference: string): string => {
  const known: Record<string, string> = {
    'AWS::Partition': 'aws',
    'AWS::Region': region,
    'AWS::AccountId': account,
  };
  if (reference.includes('SpillBucket')) return objectArn('').slice(0, -1);
  return known[reference] ?? reference;
};
const { api, data } = synthesizeStage('prod', { bedrockRegions: ['stage-region'], console: true });
const chatRole = new RolePolicy(api, 'ChatCompletions', inAccount);
const modelsRole = new RolePolicy(api, 'Models', inAccount);
const operatorRole = new RolePolicy(api, 'Operator', inAccount);

const actionOf: Readonly<Record<StoreCall['method'], TableAction | 'DeleteItem'>> = {
  get: 'GetItem',
  put: 'PutItem',
  update: 'UpdateItem',
  batchPut: 'BatchWriteItem',
  delete: 'DeleteItem',
};

/**
 * Rare calls: a process that finds an old snapshot makes a new one, and reads other shards of credit if one runs short.
 */
const seldom: Readonly<Record<string, readonly TableAction[]>> = {
  statistics: ['GetItem', 'PutItem'],
  ledger: ['GetItem'],
};

process.env.GW_TEST_CONNECTION_KEY = 'sk-client-connection-key-5811';
const unpriced = { input_price_per_million: null, output_price_per_million: null };
const limits = { rate_limit_rpm: 100, rate_limit_tpm: 100_000_000 };
/** An answer that hardly compresses, so that it does not fit into an item. */
const largeAnswer = JSON.stringify({
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: randomBytes(500_000).toString('base64') },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Returns the decryption of a key that was sealed for a stage, with the KMS key that has the alias of a stage. */
const decryption = (sealedFor: string, keyOf: string): AwsCall => ({
  action: 'kms:Decrypt',
  resource: keyArn,
  context: { 'kms:EncryptionContext:stage': sealedFor, 'kms:ResourceAliases': `alias/gw-${keyOf}-connections` },
});

const wrapping = (context: Readonly<Record<string, string>>): AwsCall => ({
  action: 'kms:GenerateDataKey',
  resource: keyArn,
  context: {
    ...Object.fromEntries(Object.entries(context).map(([name, value]) => [`kms:EncryptionContext:${name}`, value])),
    'kms:EncryptionContext:stage': 'prod',
    'kms:ResourceAliases': 'alias/gw-prod-connections',
  },
});

/**
 * Returns the real adapters of a local run; each call is recorded as the AWS call that a deployed stage makes instead.
 */
function recordingAdapters(calls: AwsCall[]): Pick<CompositionOptions, 'blobs' | 'wrapper' | 'credentials'> {
  const { blobs, wrapper, credentials } = localAdapters({ data: undefined, dynamodb: undefined });
  const inOwnAccount = { 'aws:ResourceAccount': account };
  return {
    blobs: {
      put: (key, bytes) => {
        calls.push({ action: 's3:PutObject', resource: objectArn(key), context: inOwnAccount });
        return blobs.put(key, bytes);
      },
      get: (key) => {
        calls.push({ action: 's3:GetObject', resource: objectArn(key), context: inOwnAccount });
        return blobs.get(key);
      },
    },
    wrapper: {
      isShared: true,
      createDataKey: (context) => {
        calls.push(wrapping(context));
        return wrapper.createDataKey(context);
      },
      unwrap: (wrappedKey, context) => {
        calls.push(decryption('prod', 'prod'));
        return wrapper.unwrap(wrappedKey, context);
      },
    },
    credentials: {
      find: (provider) => credentials.find(provider),
      secretOf: (reference) => credentials.secretOf(reference),
      warm: () => {
        calls.push({ action: 'secretsmanager:GetSecretValue', resource: secretArn });
        return credentials.warm();
      },
      ready: () => {
        calls.push({ action: 'secretsmanager:GetSecretValue', resource: secretArn });
        return credentials.ready();
      },
      refresh: () => credentials.refresh(),
    },
  };
}

describe('the roles of the functions, while the gateway serves every kind of request', () => {
  let testStore: TestStore;
  let simulator: Simulator;
  const largeProvider = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(largeAnswer);
  });
  let openCold: () => Composition;
  let url: string;
  let close: () => Promise<void>;
  const key = newKey();
  const recorded: AwsCall[] = [];
  const running = new Set<Promise<void>>();

  beforeAll(async () => {
    await new Promise<void>((resolve) => largeProvider.listen(0, '127.0.0.1', resolve));
    const { port } = largeProvider.address() as AddressInfo;
    const urlOf = (provider: string) =>
      provider === 'large' ? `http://127.0.0.1:${port}/v1` : simulator.urlOf(provider);
    [testStore, simulator] = await Promise.all([startTestStore(), startTestSimulator()]);
    const environment = { stage: testStore.stage, logLevel: 'silent' } as const;
    const text = gatewayFileText(
      {
        models: {
          'acme/echo': [{ provider: 'acme', upstream: 'echo', more: limits }],
          // Whether this model can be called depends on the workspace's connections.
          'acme/unpriced': [{ provider: 'acme', upstream: 'echo', more: unpriced }],
          'large/answer': [{ provider: 'large', upstream: 'any' }],
          'acme/failing': [
            { provider: 'acme', upstream: 'error-500' },
            { provider: 'bolt', upstream: 'echo', more: { output_price_per_million: '9' } },
          ],
        },
        providers: {
          acme: { accepts_byok_header: true, apis: ['chat-completions', 'responses'] },
          bolt: { apis: ['chat-completions', 'responses'], shared_state: true },
        },
        key: { rpm: 1_000, spend_limit_usd: '10' },
        workspace: {
          features: { byok: true },
          byok: { connections: [{ provider: 'acme', key: { env: 'GW_TEST_CONNECTION_KEY' }, policy: 'allowed' }] },
          functions: [prompt('answer')],
        },
      },
      urlOf,
      key,
    );
    const store = aroundStore(testStore.store, (call, run) => {
      recorded.push({ action: `dynamodb:${actionOf[call.method]}`, resource: tableArn(call.table) });
      return run();
    });
    openCold = () => createComposition({ environment, store, ...recordingAdapters(recorded) });
    const composition = openCold();
    const { randomness, clock } = composition;
    const read = readGatewayFile(text);
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    await applyGatewayFile({ file: read.file, stores: composition, readVariable, randomness, nowMs: clock.nowMs() });
    recorded.length = 0;
    const gateway = createGateway(composition);
    const server = createNodeServer(async (request, context) => {
      const response = await gateway(request, context);
      const finish = async () => {
        const done = response.finish?.() ?? Promise.resolve();
        running.add(done);
        await done;
      };
      return { ...response, finish };
    }, composition);
    url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1`;
    close = async () => {
      await server.close();
      composition.transport.close();
    };
  });
  afterAll(async () => {
    await close?.();
    largeProvider.close();
    await Promise.all([simulator?.stop(), testStore?.stop()]);
  });

  /** Returns the AWS calls since the last time, including those of the final charge. */
  const takeCalls = async (): Promise<AwsCall[]> => {
    await Promise.all(running);
    return recorded.splice(0);
  };
  const send = async (body: object, headers: Record<string, string> = {}, path = 'chat/completions') => {
    const response = await fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    await response.text();
    await Promise.all(running);
    return response.status;
  };
  /** Replaces the configuration by one with another connection. */
  const replaceConfiguration = async (address: string, operatorKey: string) => {
    const authorization = `Bearer ${operatorKey}`;
    const read = await fetch(address, { headers: { authorization, accept: 'application/json' } });
    const { data: file } = (await read.json()) as { data: { workspaces: { byok: { connections: object[] } }[] } };
    file.workspaces[0]?.byok.connections.push({ provider: 'acme', key: { env: 'UNKNOWN' }, policy: 'allowed' });
    const headers = { authorization, 'if-match': read.headers.get('etag') ?? '' };
    const replaced = await fetch(address, { method: 'PUT', headers, body: JSON.stringify(file) });
    return [read.status, replaced.status];
  };
  const tableActionsIn = (calls: readonly AwsCall[]): Record<string, string[]> => {
    const tables: Record<string, Set<string>> = {};
    for (const { action, resource } of calls) {
      if (!action.startsWith('dynamodb:')) continue;
      const table = resource.slice(tableArn('').length);
      tables[table] = (tables[table] ?? new Set()).add(action.slice('dynamodb:'.length));
    }
    return Object.fromEntries(Object.entries(tables).map(([table, actions]) => [table, [...actions]]));
  };

  const expectOnly = (grants: TableActions, calls: readonly AwsCall[]): void => {
    const calledActions = tableActionsIn(calls);
    for (const [table, actions] of Object.entries(grants)) {
      const found = [...(calledActions[table] ?? []), ...(seldom[table] ?? [])];
      expect({ table, actions: [...new Set(found)].toSorted() }).toEqual({ table, actions: actions.toSorted() });
    }
    expect(Object.keys(grants)).toEqual(expect.arrayContaining(Object.keys(calledActions)));
  };

  it('allow the chat function every call it makes, and no action on a table that it never makes', async () => {
    const cached = hello('acme/echo', { cache: { enabled: true } });
    const headers = { 'idempotency-key': 'once' };
    const statuses = [
      await send(hello('acme/echo')),
      await send(hello('acme/echo', { stream: true })),
      await send(hello('acme/failing')),
      await send(hello('acme/echo'), headers),
      await send(hello('acme/echo'), headers),
      await send(hello('large/answer'), { 'idempotency-key': 'large' }),
      await send(hello('large/answer'), { 'idempotency-key': 'large' }),
      await send(hello('acme/echo'), { 'x-gw-trace-id': 'a-trace', 'x-gw-span-id': 'a-span' }),
      await send(hello('acme/echo', { max_tokens: 5 }), {
        ...headers,
        'x-gw-trace-id': 'a-trace',
        'x-gw-span-id': 'b-span',
      }),
      await send(cached),
      await send(cached),
      await send(ask('answer')),
      await send({ model: 'acme/failing', input: 'Hello' }, {}, 'responses'),
      await send(
        { model: 'acme/failing', input: 'Hello', conversation: 'conv_1', provider: { order: ['bolt'] } },
        {},
        'responses',
      ),
      await send({ model: 'acme/echo', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }, {}, 'messages'),
    ];
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 409, 200, 200, 200, 200, 200, 200]);
    for (const path of ['/key', '/credits', '/generation?id=01a20259-a9d1-7658-8559-d8e0dce60050']) {
      await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })).text();
    }
    const calls = await takeCalls();
    expect(calls.filter((call) => !chatRole.allows(call))).toEqual([]);
    const ofOtherServices = calls.filter(({ action }) => !action.startsWith('dynamodb:'));
    expect(ofOtherServices.filter((call) => modelsRole.allows(call))).toEqual([]);
    const services = new Set(ofOtherServices.map(({ action }) => action));
    expect([...services].toSorted()).toEqual([
      'kms:Decrypt',
      'kms:GenerateDataKey',
      's3:GetObject',
      's3:PutObject',
      'secretsmanager:GetSecretValue',
    ]);
    expectOnly(gatewayTableActions, calls);
  });

  it('allow each function what it reads while it is loaded', async () => {
    for (const [warm, role] of [
      [warmGateway, chatRole],
      [warmModels, modelsRole],
    ] as const) {
      await warm(openCold());
      const calls = await takeCalls();
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.filter((call) => !role.allows(call))).toEqual([]);
    }
  });

  it('allow the model listing every call it makes, and no action on a table that it never makes', async () => {
    const headers = { authorization: [`Bearer ${key}`] };
    const request = { method: 'GET', path: '/v1/models', query: 'functions=true', headers, body: new Uint8Array() };
    const cold = openCold();
    const { status } = await callGateway(createGateway(cold), { ...request, arrivedAtMs: cold.clock.nowMs() });
    expect(status).toBe(200);
    const calls = await takeCalls();
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter((call) => !modelsRole.allows(call))).toEqual([]);
    expectOnly(modelsTableActions, calls);
  });

  it('allow the operator function every call it makes, and no action on a table that it never makes', async () => {
    const call = (method: string, table: string) =>
      recorded.push({ action: `dynamodb:${method}`, resource: tableArn(table) });
    const wrappedStore = aroundStore(testStore.store, (one, run) => {
      call(actionOf[one.method], one.table);
      return run();
    });
    const store: Store = {
      ...wrappedStore,
      scan: (table, options) => {
        call('Scan', table);
        return testStore.store.scan(table, options);
      },
      query: (table, id, options) => {
        call('Query', table);
        return testStore.store.query(table, id, options);
      },
    };
    const environment = { stage: testStore.stage, logLevel: 'silent' } as const;
    const composition = createOperatorComposition({ environment, store });
    const { text } = await createOperator(openCold(), 'ada');
    const page = { read: async () => undefined };
    const server = createNodeServer(createOperatorGateway(composition, page), composition);
    const base = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/v1/manage`;
    const ask = async (method: string, path: string, body?: object) => {
      const init = { method, headers: { authorization: `Bearer ${text}` } };
      const response = await fetch(base + path, body === undefined ? init : { ...init, body: JSON.stringify(body) });
      return [response.status, ((await response.json()) as { data: { public_id?: string } }).data] as const;
    };
    await takeCalls();
    const lists = ['overview', 'calls', 'providers', 'models', 'keys', 'operators', 'workspaces', 'functions'];
    for (const path of [...lists, 'calls/01a20259-a9d1-7658-8559-d8e0dce60050']) await ask('GET', `/${path}`);
    const published = { id: 'r9', model: 'acme/echo', messages: [{ role: 'user', content: '{{input}}' }] };
    const [status, key] = await ask('POST', '/keys', { workspace: 'team', name: 'made', spend_limit_usd: '1' });
    const [operatorMade, operator] = await ask('POST', '/operators', { name: 'grace' });
    const statuses = [
      status,
      (await ask('PATCH', `/keys/${key.public_id}`, { rpm: 5 }))[0],
      (await ask('POST', '/workspaces/team/credits', { amount_usd: '1', id: 'one' }))[0],
      (await ask('POST', '/workspaces/team/credits', { amount_usd: '-1', id: 'two' }))[0],
      ...[
        (await ask('POST', '/functions/team/answer/disable'))[0],
        (await ask('POST', '/functions/team/answer/enable'))[0],
      ],
      (await ask('POST', '/functions/team/answer/activate', { revision: 'r1' }))[0],
      (await ask('POST', '/functions/team/answer/revisions', { kind: 'prompt', revision: published }))[0],
      (await ask('POST', '/workspaces', { id: 'made', credit_usd: '1' }))[0],
      (await ask('PATCH', '/workspaces/made', { spend_limit_usd: '2' }))[0],
      operatorMade,
      (await ask('POST', `/operators/${operator.public_id}/revoke`))[0],
      (await ask('POST', '/providers/acme/disable'))[0],
      (await ask('POST', '/providers/acme/enable'))[0],
      ...(await replaceConfiguration(`${base}/configuration`, text)),
    ];
    await server.close();
    expect(statuses).toEqual(statuses.map(() => 200));
    const calls = await takeCalls();
    expect(calls.filter((one) => !operatorRole.allows(one))).toEqual([]);
    const calledActions = tableActionsIn(calls);
    expect(
      Object.fromEntries(Object.entries(calledActions).map(([table, actions]) => [table, actions.toSorted()])),
    ).toEqual(
      Object.fromEntries(Object.entries(operatorTableActions).map(([table, actions]) => [table, actions.toSorted()])),
    );
  });

  it('allow on every table of the stage what is listed for the function, and nothing else', () => {
    const actions = ['Scan', 'Query', 'UpdateTable', ...Object.values(actionOf)];
    for (const [role, grants] of [
      [chatRole, gatewayTableActions],
      [modelsRole, modelsTableActions],
      [operatorRole, operatorTableActions],
    ] as const) {
      const allowed = tableNames.flatMap((table) => {
        const found = actions.filter((action) =>
          role.allows({ action: `dynamodb:${action}`, resource: tableArn(table) }),
        );
        return found.length === 0 ? [] : [[table, found.toSorted()]];
      });
      const grantedActions = Object.entries(grants as TableActions).map(([table, list]) => [table, list.toSorted()]);
      expect(Object.fromEntries(allowed)).toEqual(Object.fromEntries(grantedActions));
    }
  });

  it('allow updates as statements exactly if they allow updates, and no statement of another kind', () => {
    for (const role of [chatRole, modelsRole, operatorRole]) {
      for (const table of tableNames) {
        const allows = (action: string) => role.allows({ action: `dynamodb:${action}`, resource: tableArn(table) });
        expect([table, allows('PartiQLUpdate')]).toEqual([table, allows('UpdateItem')]);
        for (const other of ['PartiQLSelect', 'PartiQLInsert', 'PartiQLDelete']) expect(allows(other)).toBe(false);
      }
    }
    expect(chatRole.allows({ action: 'dynamodb:PartiQLUpdate', resource: tableArn('ledger') })).toBe(true);
  });

  it.each<[string, AwsCall]>([
    ['opening a sealed key', decryption('prod', 'prod')],
    ['sealing a key', wrapping({ purpose: 'store-key' })],
    ['reading provider credentials', { action: 'secretsmanager:GetSecretValue', resource: secretArn }],
    ['reading stored answers', onObject('GetObject', 'result-x')],
    ['writing bodies of calls', onObject('PutObject', 'content-30d-x')],
    ['deleting bodies of calls', onObject('DeleteObject', 'content-30d-x')],
    [
      'calling a model',
      { action: 'bedrock:InvokeModel', resource: `arn:aws:bedrock:${region}::foundation-model/some.model` },
    ],
  ])('deny the operator function %s', (_case, call) => {
    expect(operatorRole.allows(call)).toBe(false);
  });

  it('let each function read which origins are accepted, and none of the secrets that the edge sends, nor those of another stage', () => {
    const reading = (name: string): AwsCall => ({
      action: 'secretsmanager:GetSecretValue',
      resource: secretArn.replace('gw/prod/providers', name),
    });
    for (const role of [chatRole, modelsRole, operatorRole]) {
      expect(role.allows(reading('gw/prod/origin'))).toBe(true);
      expect(role.allows(reading('gw/staging/origin'))).toBe(false);
      expect(role.allows(reading('OriginSecretSecret1'))).toBe(false);
    }
    expect(modelsRole.allows(reading('gw/prod/providers'))).toBe(false);
  });

  it('let the gateway write bodies of calls, and the operator function read them', () => {
    expect(chatRole.allows(onObject('PutObject', 'content-30d-x'))).toBe(true);
    expect(operatorRole.allows(onObject('GetObject', 'content-365d-x'))).toBe(true);
    expect(modelsRole.allows(onObject('GetObject', 'content-30d-x'))).toBe(false);
  });

  it.each<[string, AwsCall]>([
    ['a table of another stage', { action: 'dynamodb:GetItem', resource: tableArn('keys', 'staging') }],
    ['a key that was sealed for another stage', decryption('staging', 'prod')],
    ['another key of the account', decryption('prod', 'staging')],
    ['sealing a key of a connection', wrapping({ workspace: 'team-a', connection: 'acme' })],
    ['another secret', { action: 'secretsmanager:GetSecretValue', resource: `${secretArn}-other` }],
    [
      'the secret of another stage',
      { action: 'secretsmanager:GetSecretValue', resource: secretArn.replace('prod', 'staging') },
    ],
    [
      'a bucket of its name in another account',
      { ...onObject('PutObject', 'result-x'), context: { 'aws:ResourceAccount': '999999999999' } },
    ],
    ['deleting a stored answer', onObject('DeleteObject', 'result-x')],
    ['reading bodies of calls', onObject('GetObject', 'content-30d-x')],
    ['an object of another prefix', onObject('PutObject', 'x')],
    ['listing stored answers', { action: 's3:ListBucket', resource: objectArn('x').replace('/x', '') }],
    [
      'a model of another region without a profile',
      { action: 'bedrock:InvokeModel', resource: 'arn:aws:bedrock:us-west-2::foundation-model/some.model' },
    ],
    [
      'reranking in another region',
      { action: 'bedrock:Rerank', resource: '*', context: { 'aws:RequestedRegion': 'us-west-2' } },
    ],
  ])('deny %s', (_case, call) => {
    expect(chatRole.allows(call)).toBe(false);
    expect(modelsRole.allows(call)).toBe(false);
  });

  it.each<[string, AwsCall]>([
    ['a model', { action: 'bedrock:InvokeModel', resource: `arn:aws:bedrock:${region}::foundation-model/some.model` }],
    [
      'a model elsewhere through a profile of its region',
      {
        action: 'bedrock:InvokeModelWithResponseStream',
        resource: 'arn:aws:bedrock:eu-north-1::foundation-model/some.model',
        context: {
          'bedrock:InferenceProfileArn': `arn:aws:bedrock:${region}:${account}:inference-profile/eu.some.model`,
        },
      },
    ],
    [
      'the OpenAI-compatible interface',
      {
        action: 'bedrock-mantle:CreateInference',
        resource: `arn:aws:bedrock-mantle:${region}:${account}:project/default`,
      },
    ],
    ['reranking', { action: 'bedrock:Rerank', resource: '*', context: { 'aws:RequestedRegion': region } }],
    [
      'a guardrail',
      { action: 'bedrock:ApplyGuardrail', resource: `arn:aws:bedrock:${region}:${account}:guardrail/abc123` },
    ],
  ])('allow the chat function, and it alone, %s of Bedrock', (_case, call) => {
    expect(chatRole.allows(call)).toBe(true);
    expect(modelsRole.allows(call)).toBe(false);
  });
});

describe('the policies of resources', () => {
  const environment = { account };
  const foreign = { account: '999999999999' };
  const policyOf = (template: typeof api, type: string, member: string) => {
    const [resource, ...others] = resourcesOf(template, type);
    expect(others).toEqual([]);
    return new ResourcePolicy(resource?.Properties[member], inAccount);
  };

  describe('of the alarm topic', () => {
    const [topic] = resourcesOf(api, 'AWS::SNS::Topic');
    const policy = policyOf(api, 'AWS::SNS::TopicPolicy', 'PolicyDocument');
    const cloudwatch = { service: 'cloudwatch.amazonaws.com' };
    const publishing = (from: string, secure = 'true'): AwsCall => ({
      action: 'sns:Publish',
      resource: String(topic?.id),
      context: {
        'aws:SourceAccount': String(from.split(':')[4]),
        'aws:SourceArn': from,
        'aws:SecureTransport': secure,
      },
    });

    it('lets every alarm that names the topic publish there', () => {
      // Alarms of a new version notify only CodeDeploy.
      const alarms = resourcesOf(api, 'AWS::CloudWatch::Alarm').filter(({ id }) => !id.includes('NewVersion'));
      expect(alarms.length).toBeGreaterThan(0);
      for (const { id, Properties } of alarms) {
        expect(Properties.AlarmActions).toEqual([{ Ref: topic?.id }]);
        const arn = `arn:aws:cloudwatch:${region}:${account}:alarm:${id}`;
        expect({ id, decision: policy.decide(cloudwatch, publishing(arn)) }).toEqual({ id, decision: 'allow' });
      }
    });

    it('lets in no alarm of another account, no other service and nothing without TLS', () => {
      const alarm = `arn:aws:cloudwatch:${region}:${account}:alarm:x`;
      const stranger = alarm.replace(account, foreign.account);
      expect(policy.decide(cloudwatch, publishing(stranger))).toBe('none');
      expect(policy.decide({ service: 'events.amazonaws.com' }, publishing(alarm))).toBe('none');
      expect(policy.decide(foreign, publishing(stranger))).toBe('none');
      expect(policy.decide(cloudwatch, publishing(alarm, 'false'))).toBe('deny');
    });
  });

  it('of the functions let anyone call them by their URLs, and in no other way', () => {
    const urls = resourcesOf(api, 'AWS::Lambda::Url');
    expect(urls).toHaveLength(3);
    for (const { Properties, DependsOn } of urls) {
      const id = resourcesOf(api, 'AWS::Lambda::Alias').find((alias) => DependsOn?.includes(alias.id))?.id ?? '';
      const policy = functionPolicy(api, id, inAccount);
      const decide = (action: string, context: AwsCall['context']) =>
        policy.decide(foreign, { action, resource: id, ...(context ? { context } : {}) });
      const byUrl = {
        'lambda:FunctionUrlAuthType': String(Properties.AuthType),
        'lambda:InvokedViaFunctionUrl': 'true',
      };
      expect(decide('lambda:InvokeFunctionUrl', byUrl)).toBe('allow');
      expect(decide('lambda:InvokeFunction', byUrl)).toBe('allow');
      expect(decide('lambda:InvokeFunction', undefined)).toBe('none');
      expect(decide('lambda:UpdateFunctionCode', byUrl)).toBe('none');
    }
  });

  it('of the roles let Lambda take them on, or CodeDeploy those that move aliases, and no one else', () => {
    const roles = resourcesOf(api, 'AWS::IAM::Role');
    expect(roles.length).toBeGreaterThan(0);
    for (const { id, Properties } of roles) {
      const policy = new ResourcePolicy(Properties.AssumeRolePolicyDocument, inAccount);
      const call = { action: 'sts:AssumeRole', resource: id };
      const [service, another] = ['lambda.amazonaws.com', 'codedeploy.amazonaws.com'];
      const [taker, notTaker] = id.includes('Rollout') ? [another, service] : [service, another];
      expect(policy.decide({ service: taker }, call)).toBe('allow');
      expect(policy.decide({ service: notTaker }, call)).toBe('none');
      for (const other of [{ service: 'cloudwatch.amazonaws.com' }, environment, foreign]) {
        expect(policy.decide(other, call)).toBe('none');
      }
    }
  });

  it('of the key leave it to the policies of the roles of this account who may use it', () => {
    const policy = policyOf(data, 'AWS::KMS::Key', 'KeyPolicy');
    const decrypt = { action: 'kms:Decrypt', resource: keyArn };
    expect(policy.decide(environment, decrypt)).toBe('allow');
    expect(policy.decide(foreign, decrypt)).toBe('none');
    expect(policy.decide({ service: 'lambda.amazonaws.com' }, decrypt)).toBe('none');
  });

  it('of the bucket refuse plain HTTP and old TLS to every caller, and give no caller more than its own policies do', () => {
    const policy = policyOf(data, 'AWS::S3::BucketPolicy', 'PolicyDocument');
    const get = (context: Record<string, string>): AwsCall => ({
      action: 's3:GetObject',
      resource: objectArn('x'),
      context,
    });
    const secure = { 'aws:SecureTransport': 'true', 's3:TlsVersion': '1.3' };
    expect(policy.decide(environment, get(secure))).toBe('none');
    expect(policy.decide(foreign, get(secure))).toBe('none');
    expect(policy.decide(environment, get({ ...secure, 'aws:SecureTransport': 'false' }))).toBe('deny');
    expect(policy.decide(environment, get({ ...secure, 's3:TlsVersion': '1.1' }))).toBe('deny');
  });
});
