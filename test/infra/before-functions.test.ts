// Answers that CloudFront gives in place of the operator function, computed by the very text that the template uploads.

import { createRequire } from 'node:module';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createOperator } from '../../shared/configuration/administration/index.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

type Headers = Readonly<Record<string, { readonly value: string; readonly multiValue?: readonly { value: string }[] }>>;
interface ViewerRequest {
  readonly method: string;
  readonly uri: string;
  readonly headers: Headers;
}
interface EdgeAnswer {
  readonly statusCode: number;
  readonly headers: Headers;
  readonly body: string;
}

const signIn = { issuer: 'https://id.example.com', client_id: 'gw' };
const withTasks = { console: true, consoleSharesTaskRole: true, compute: 'container' } as const;
const doorOf = (overrides: object) => {
  const { api } = synthesizeStage('prod', { console: true, ...overrides });
  const [door, ...others] = resourcesOf(api, 'AWS::CloudFront::Function');
  expect(others).toEqual([]);
  const code = String(door?.Properties.FunctionCode);
  // This is CloudFront's limit for a function.
  expect(Buffer.byteLength(code)).toBeLessThan(10_240);
  expect(door?.Properties.FunctionConfig).toMatchObject({ Runtime: 'cloudfront-js-2.0' });
  const context = { require: createRequire(import.meta.url) };
  const handler = runInNewContext(`${code}; handler`, context) as (event: object) => ViewerRequest | EdgeAnswer;
  return (uri: string, headers: Headers = {}, method = 'GET') =>
    handler({ context: { requestId: 'E1-x==' }, request: { method, uri, headers } });
};
const bearer = (value: string): Headers => ({ authorization: { value: `Bearer ${value}` } });

describe('before the operator function', () => {
  const ask = doorOf({});
  let gateway: Harness;
  let key: string;
  beforeAll(async () => {
    gateway = await startHarness({ models: {} });
    key = (await createOperator(gateway.composition, 'ops')).text;
  });
  afterAll(() => gateway.stop());

  it.each([
    ['/v1/manage/session', {}],
    ['/v1/manage/session', { authorization: { value: 'Bearer' } }],
    ['/v1/manage/keys', { authorization: { value: 'Bearer sk-other' } }],
    ['/v1/manage/keys', { authorization: { value: 'Basic YTpi' } }],
    ['/v1/manage/keys', { authorization: { value: 'Bearer a.b.c' } }],
    ['/v1/manage/session', { 'x-gw-error-format': { value: 'openai' }, 'x-gw-trace-id': { value: 'mine' } }],
    ['/console/main-00000000.js', {}],
  ])('%s with %j is answered as the function would, and never reaches it', async (uri, headers: Headers) => {
    const edge = ask(uri, headers) as EdgeAnswer;
    const sentHeaders = Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value]));
    const response = await fetch(new URL(gateway.url).origin + uri, { headers: sentHeaders });
    const withoutIds = (text: string) => ({ ...(JSON.parse(text) as object), correlation_id: 'one of its own' });
    expect(edge.statusCode).toBe(response.status);
    expect(withoutIds(edge.body)).toEqual(withoutIds(await response.text()));
    const namesOf = ['content-type', 'x-should-retry'];
    expect(namesOf.map((name) => edge.headers[name]?.value ?? null)).toEqual(
      namesOf.map((name) => response.headers.get(name)),
    );
    const { correlation_id: id } = JSON.parse(edge.body) as { correlation_id: string };
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
    expect(edge.headers['x-request-id']?.value).toBe(id);
    const traceId = headers['x-gw-trace-id']?.value ?? expect.stringMatching(/^[\da-f]{32}$/);
    expect(edge.headers['x-gw-trace-id']?.value).toEqual(traceId);
  });

  it('a credential sent twice is refused, whatever it is', () => {
    const twice = { authorization: { value: `Bearer ${key}`, multiValue: [{ value: 'a' }, { value: 'b' }] } };
    expect(ask('/v1/manage/keys', twice)).toMatchObject({ statusCode: 401 });
  });

  it('what has the form of an operator key, the files of the page and its settings go on as they came', () => {
    for (const headers of [bearer(key), { authorization: { value: `bearer  ${key}` } }]) {
      expect(ask('/v1/manage/keys', headers, 'POST')).toEqual({ method: 'POST', uri: '/v1/manage/keys', headers });
    }
    for (const file of ['', '/', '/index.html', '/main-0a1b2c3d.js', '/settings.json']) {
      expect(ask(`/console${file}`)).toEqual({ method: 'GET', uri: `/console${file}`, headers: {} });
    }
    expect(ask('/consoles')).toMatchObject({ statusCode: 404 });
  });

  it('a token of an identity provider goes on where people sign in, and a key as well', () => {
    const withSignIn = doorOf({ sign_in: signIn });
    const token = bearer('eyJh.eyJp.c2ln-_');
    expect(withSignIn('/v1/manage/keys', token)).toMatchObject({ headers: token });
    expect(withSignIn('/v1/manage/keys', bearer(key))).toMatchObject({ headers: bearer(key) });
    expect(withSignIn('/v1/manage/keys', {})).toMatchObject({ statusCode: 401 });
  });

  it('runs for both paths of operators, for no call of a client, and in no stage without a function for it', () => {
    const { api } = synthesizeStage('prod', { console: true });
    const [distribution] = resourcesOf(api, 'AWS::CloudFront::Distribution');
    const config = distribution?.Properties.DistributionConfig as {
      readonly DefaultCacheBehavior: object;
      readonly CacheBehaviors: readonly { readonly PathPattern: string; readonly FunctionAssociations?: unknown }[];
    };
    const guarded = config.CacheBehaviors.filter(({ FunctionAssociations }) => FunctionAssociations !== undefined);
    expect(guarded.map(({ PathPattern }) => PathPattern)).toEqual(['/v1/manage/*', '/console*']);
    expect(guarded[0]?.FunctionAssociations).toEqual([{ EventType: 'viewer-request', FunctionARN: expect.anything() }]);
    expect(config.DefaultCacheBehavior).not.toHaveProperty('FunctionAssociations');
    // It is updated after the Lambda function whose files it knows.
    const [door] = resourcesOf(api, 'AWS::CloudFront::Function');
    expect(door?.DependsOn).toEqual(expect.arrayContaining([expect.stringMatching(/^OperatorLive/)]));
    for (const overrides of [{}, { console: true, edge: 'none' }] as const) {
      expect(resourcesOf(synthesizeStage('prod', overrides).api, 'AWS::CloudFront::Function')).toEqual([]);
    }
  });

  it('metrics of a task are refused in front of tasks, with whatever credential, and nothing else is', () => {
    const { api } = synthesizeStage('prod', withTasks);
    const [distribution] = resourcesOf(api, 'AWS::CloudFront::Distribution');
    const config = distribution?.Properties.DistributionConfig as {
      readonly DefaultCacheBehavior: Readonly<Record<string, unknown>>;
      readonly CacheBehaviors: readonly object[];
      readonly Origins: readonly object[];
    };
    const { FunctionAssociations: none, ...default_ } = config.DefaultCacheBehavior;
    expect(none).toBeUndefined();
    expect(config.CacheBehaviors).toEqual([
      {
        ...default_,
        PathPattern: '/metrics',
        FunctionAssociations: [{ EventType: 'viewer-request', FunctionARN: expect.anything() }],
      },
    ]);
    // A second origin would be a second VPC origin with the same name.
    expect(config.Origins).toHaveLength(1);
    const askTasks = doorOf(withTasks);
    for (const headers of [{}, bearer(key)]) {
      for (const method of ['GET', 'POST'])
        expect(askTasks('/metrics', headers, method)).toMatchObject({ statusCode: 404 });
    }
  });
});
