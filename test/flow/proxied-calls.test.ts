// A gateway in a network where the only way out is a proxy, which the usual environment variables name.

import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { fetchText } from '../../shared/foundation/outgoing/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createDynamoClient } from '../../shared/storage/dynamodb-store/index.ts';
import { expectError } from '../support/expect-error.ts';
import {
  type ForwardProxy,
  startForwardProxy,
  startTlsServer,
  trustTestCertificate,
} from '../support/forward-proxy.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { completionOf } from '../support/scripted-provider.ts';

describe('behind a proxy', () => {
  let proxy: ForwardProxy;
  let provider: Awaited<ReturnType<typeof startTlsServer>>;
  let gateway: Harness;
  let forget: () => void;
  const receivedUrls: string[] = [];

  beforeAll(async () => {
    forget = trustTestCertificate();
    provider = await startTlsServer((incoming, outgoing) => {
      receivedUrls.push(`${incoming.headers.host} ${incoming.url}`);
      incoming.resume();
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(completionOf({ content: 'served' }));
    });
    proxy = await startForwardProxy({ 'provider.example': provider.port });
    process.env.HTTPS_PROXY = `http://operator:proxy-password-canary@127.0.0.1:${proxy.port}`;
    process.env.NO_PROXY = 'direct.example';
    gateway = await startHarness({
      models: {
        'acme/alone': [{ provider: 'acme', upstream: 'model' }],
        'acme/backed': [
          { provider: 'acme', upstream: 'model' },
          { provider: 'near', upstream: 'echo', more: { input_price_per_million: '9' } },
        ],
        'acme/direct': [{ provider: 'direct', upstream: 'model' }],
      },
      providers: {
        acme: { base_url: 'https://provider.example/v1' },
        direct: { base_url: 'https://direct.example/v1' },
      },
    });
  });
  afterAll(async () => {
    delete process.env.HTTPS_PROXY;
    delete process.env.NO_PROXY;
    expect(gateway.logLines.join('\n')).not.toMatch(/proxy-password-canary|proxy page/);
    await gateway.stop();
    await proxy.stop();
    await provider.stop();
    forget();
  });

  const outcomes = () =>
    gateway.logLines
      .map((line) => JSON.parse(line) as { event?: string; outcome?: string })
      .filter(({ event }) => event === 'attempt_failed')
      .map(({ outcome }) => outcome);

  it('a provider that only the proxy can reach serves, and one on this machine is called without it', async () => {
    expect(await (await gateway.post(hello('acme/alone'))).json()).toMatchObject({ usage: { provider: 'acme' } });
    expect(receivedUrls).toEqual(['provider.example /v1/chat/completions']);
    expect(proxy.requests).toEqual(['CONNECT provider.example:443']);
    expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('operator:proxy-password-canary').toString('base64')}`]);
  });

  it('a collector of traces that only the proxy can reach gets them', async () => {
    const [receivedBefore, proxyRequests] = [receivedUrls.length, proxy.requests.length];
    const traced = await startHarness({
      models: { 'acme/near': [{ provider: 'near', upstream: 'echo' }] },
      telemetry: {
        endpoint: 'https://provider.example/v1/traces',
        headers: {},
        headersSecret: undefined,
        cloudwatchRegion: undefined,
        resource: { 'service.name': 'gw' },
        sampleRatio: 1,
      },
    });
    expect((await traced.post(hello('acme/near'))).status).toBe(200);
    await traced.settled();
    await traced.stop();
    expect(receivedUrls.slice(receivedBefore)).toEqual(['provider.example /v1/traces']);
    expect(proxy.requests.slice(proxyRequests)).toEqual(['CONNECT provider.example:443']);
  });

  it('a document of a sign-in that only the proxy can reach is read through it, and nothing is asked twice', async () => {
    const requestsBefore = proxy.requests.length;
    const url = new URL('https://provider.example/.well-known/openid-configuration');
    expect(await fetchText({ url, clock: systemClock, timeoutMs: 10_000, bytesMax: 10_000 })).toContain('served');
    expect(receivedUrls.at(-1)).toBe('provider.example /.well-known/openid-configuration');
    expect(proxy.requests.slice(requestsBefore)).toEqual(['CONNECT provider.example:443']);
  });

  it('a table of AWS that only the proxy can reach is read through it', async () => {
    const requestsBefore = proxy.requests.length;
    const credentials = async () => ({ accessKeyId: 'id', secretAccessKey: 'secret' });
    const table = createDynamoClient({ endpoint: 'https://provider.example', region: 'eu-west-1', credentials });
    await table.send(new GetCommand({ TableName: 'gw', Key: { pk: 'a', sk: 'b' } })).catch(() => undefined);
    table.destroy();
    expect(receivedUrls.at(-1)).toBe('provider.example /');
    expect(proxy.requests.slice(requestsBefore)).toEqual(['CONNECT provider.example:443']);
  });

  it('what the environment excepts is called directly', async () => {
    proxy.requests.length = 0;
    await expectError(await gateway.post(hello('acme/direct')), 502, 'no_available_provider');
    expect(proxy.requests).toEqual([]);
    expect(outcomes().at(-1)).toBe('connection');
  });

  it('a proxy that refuses fails the attempt, which the log calls by its status, and the next provider serves', async () => {
    proxy.refuseWith(407);
    const fresh = await gateway.open();
    const response = await fresh.post(hello('acme/backed'));
    expect(await response.json()).toMatchObject({ usage: { provider: 'near', attempts: 2 } });
    expect(outcomes().at(-1)).toBe('proxy_status_407');
    const { message } = await expectError(await fresh.post(hello('acme/alone')), 502, 'no_available_provider');
    expect(message).not.toMatch(/proxy|407/);
  });
});
