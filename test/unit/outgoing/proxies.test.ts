// Which calls go through a proxy, and that they do: only the test's proxy can find the servers.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { readProxyEnvironment } from '../../../shared/foundation/environment/index.ts';
import {
  ConnectionBroken,
  createOutgoingCalls,
  fetchText,
  ProxyFailed,
  readText,
} from '../../../shared/foundation/outgoing/index.ts';
import { createProxies } from '../../../shared/foundation/outgoing/proxies.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import {
  type ForwardProxy,
  startForwardProxy,
  startTlsServer,
  trustTestCertificate,
} from '../../support/forward-proxy.ts';
import { startMuteServer } from '../../support/socket-server.ts';

const proxied = (variables: Record<string, string>, url: string): string | undefined => {
  const proxy = createProxies(readProxyEnvironment(variables)).proxyFor(new URL(url));
  return proxy && `${proxy.protocol}//${proxy.hostname}:${proxy.port}`;
};
const both = { HTTPS_PROXY: 'http://proxy.example:3128', HTTP_PROXY: 'http://plain.example:8080' };

describe('the proxy of a call', () => {
  it.each([
    ['https://a.example/v1', both, 'http://proxy.example:3128'],
    ['http://a.example/v1', both, 'http://plain.example:8080'],
    ['http://a.example/v1', { HTTPS_PROXY: 'http://proxy.example' }, undefined],
    ['https://a.example/v1', { https_proxy: 'https://proxy.example' }, 'https://proxy.example:443'],
    [
      'https://a.example/v1',
      { https_proxy: 'http://lower.example', HTTPS_PROXY: 'http://upper.example' },
      'http://lower.example:80',
    ],
    ['https://a.example/v1', { HTTPS_PROXY: 'proxy.example:3128' }, 'http://proxy.example:3128'],
    ['https://a.example/v1', { HTTPS_PROXY: '' }, undefined],
    ['https://proxy.example:3128/v1', both, undefined],
  ])('of %s under %j is %s', (url, variables, expected) => {
    expect(proxied(variables, url)).toBe(expected);
  });

  it.each([
    ['*', 'https://a.example', false],
    ['a.example', 'https://a.example', false],
    ['a.example', 'https://b.a.example', true],
    ['A.EXAMPLE', 'https://a.example', false],
    ['.example', 'https://a.example', false],
    ['*.example', 'https://a.b.example', false],
    ['.a.example', 'https://a.example', false],
    ['.a.example', 'https://bada.example', true],
    ['a.example:443', 'https://a.example', false],
    ['a.example:8443', 'https://a.example', true],
    ['.example:8443', 'https://a.example:8443', false],
    ['x.example , a.example', 'https://a.example', false],
    ['10.0.0.0/8', 'https://10.1.2.3', false],
    ['10.0.0.0/8', 'https://11.1.2.3', true],
    ['10.0.0.0/99', 'https://10.1.2.3', true],
    ['fd00::/8', 'https://[fd00::1]', false],
    ['fd00::1', 'https://[fd00::1]', false],
    ['', 'https://a.example', true],
  ])('is asked under NO_PROXY=%s for %s: %s', (except, url, isAsked) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      expect(proxied({ ...both, [name]: except }, url) !== undefined).toBe(isAsked);
    }
  });

  it.each(['localhost', 'a.localhost', '127.0.0.1', '127.9.9.9', '[::1]', '[::ffff:127.0.0.1]'])(
    'is never asked for this machine itself: %s',
    (host) => {
      expect(proxied(both, `http://${host}:8000`)).toBeUndefined();
      expect(proxied(both, `https://${host}:8000`)).toBeUndefined();
    },
  );

  it.each(['socks5://proxy.example', 'http://', 'ftp://user:secret@proxy.example'])(
    'that is no URL of http or https is named by its variable, without what it holds: %s',
    (value) => {
      const read = () => readProxyEnvironment({ HTTPS_PROXY: value });
      expect(read).toThrow('HTTPS_PROXY must be the http or https URL of a proxy');
      expect(read).not.toThrow('secret');
    },
  );
});

describe('a call through a proxy', () => {
  let forget: () => void;
  const stops: (() => unknown)[] = [];
  beforeAll(() => {
    forget = trustTestCertificate();
  });
  afterAll(() => forget());
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  async function start({ isEncrypted = false } = {}) {
    const receivedBodies: string[] = [];
    const answer: Parameters<typeof startTlsServer>[0] = (incoming, outgoing) => {
      receivedBodies.push(
        `${incoming.method} ${incoming.url} ${incoming.headers.host} ${incoming.headers['proxy-authorization']}`,
      );
      incoming.resume();
      outgoing.end('served');
    };
    const secure = await startTlsServer(answer);
    const plain = createServer(answer).listen(0, '127.0.0.1');
    await new Promise((resolve) => plain.once('listening', resolve));
    const ports = { 'provider.example': secure.port, 'plain.example': (plain.address() as AddressInfo).port };
    const proxy = await startForwardProxy(ports, isEncrypted);
    const url = `${isEncrypted ? 'https' : 'http'}://user:p%40ss%25@localhost:${proxy.port}`;
    const calls = createOutgoingCalls({
      clock: systemClock,
      socketsMax: 4,
      idleSocketMs: 15_000,
      proxy: readProxyEnvironment({ HTTPS_PROXY: url, HTTP_PROXY: url }),
    });
    stops.push(
      calls.close,
      proxy.stop,
      secure.stop,
      () => plain.closeAllConnections(),
      () => plain.close(),
    );
    const send = async (address: string, signal = new AbortController().signal, connectTimeoutMs = 5_000) => {
      const request = {
        url: new URL(address),
        method: 'POST',
        headers: {},
        body: '{}',
        connectTimeoutMs,
        signal,
      } as const;
      return readText((await calls.send(request)).body, 100);
    };
    return { proxy, receivedBodies, send, url };
  }
  const credential = `Basic ${Buffer.from('user:p@ss%').toString('base64')}`;
  const failureOf = (sending: Promise<unknown>) =>
    sending.catch((error: unknown) => error) as Promise<ConnectionBroken>;
  const expectNothingOfTheProxy = (error: unknown, { port }: ForwardProxy) => {
    const { cause } = error as ConnectionBroken;
    for (const fault of [error, cause] as Error[]) {
      expect(fault.message).not.toMatch(new RegExp(`user|p@ss|proxy page|${port}`));
    }
  };

  it.each([false, true])(
    'by https asks for a tunnel, once for all calls of its socket (a proxy by https: %s)',
    async (isEncrypted) => {
      const { proxy, receivedBodies, send } = await start({ isEncrypted });
      for (let call = 0; call < 3; call += 1) expect(await send('https://provider.example/v1?a=b')).toBe('served');
      expect(proxy.requests).toEqual(['CONNECT provider.example:443']);
      expect(proxy.authorizations).toEqual([credential]);
      expect(proxy.serverNames).toEqual(isEncrypted ? ['localhost'] : []);
      // The provider does not learn of the proxy.
      expect(receivedBodies).toEqual(Array(3).fill('POST /v1?a=b provider.example undefined'));
    },
  );

  it.each([false, true])('by http hands the whole request over (a proxy by https: %s)', async (isEncrypted) => {
    const { proxy, receivedBodies, send } = await start({ isEncrypted });
    expect(await send('http://plain.example/v1?a=b')).toBe('served');
    expect(proxy.requests).toEqual(['POST http://plain.example/v1?a=b']);
    expect(proxy.authorizations).toEqual([credential]);
    expect(proxy.serverNames).toEqual(isEncrypted ? ['localhost'] : []);
    expect(receivedBodies).toHaveLength(1);
  });

  it.each(['https://provider.example/v1', 'http://plain.example/v1'])(
    'that the proxy refuses breaks with its status, and nothing of its text or address: %s',
    async (address) => {
      const { proxy, receivedBodies, send } = await start();
      proxy.refuseWith(407);
      const error = await failureOf(send(address));
      expect(error).toBeInstanceOf(ConnectionBroken);
      expect(error.cause).toBeInstanceOf(ProxyFailed);
      expect(error.cause).toMatchObject({ code: 'proxy_status_407' });
      expectNothingOfTheProxy(error, proxy);
      expect(receivedBodies).toEqual([]);
      proxy.refuseWith(undefined);
      expect(await send(address)).toBe('served');
    },
  );

  it('that the proxy refuses has not reached the provider', async () => {
    const { proxy, send } = await start();
    proxy.refuseWith(503);
    expect(await failureOf(send('https://provider.example/v1'))).toMatchObject({
      mayHaveArrived: false,
      wasDead: false,
    });
  });

  it('is named if the proxy itself is not reached', async () => {
    const { proxy, send } = await start();
    await proxy.stop();
    stops.splice(1, 1);
    const error = await failureOf(send('https://provider.example/v1'));
    expect(error).toMatchObject({ mayHaveArrived: false, cause: { code: 'proxy_unreachable' } });
    expectNothingOfTheProxy(error, proxy);
  });

  it('does not wait for a proxy, or a server behind it, that says nothing', async () => {
    const mute = await startMuteServer();
    const behind = await startForwardProxy({ 'provider.example': mute.port });
    stops.push(behind.stop, mute.stop);
    for (const port of [mute.port, behind.port]) {
      const proxy = readProxyEnvironment({ HTTPS_PROXY: `http://127.0.0.1:${port}` });
      const calls = createOutgoingCalls({ clock: systemClock, socketsMax: 4, idleSocketMs: 15_000, proxy });
      const { signal } = new AbortController();
      const url = new URL('https://provider.example/v1');
      const sending = calls.send({ url, method: 'POST', headers: {}, body: '{}', connectTimeoutMs: 100, signal });
      expect(await failureOf(sending)).toMatchObject({ mayHaveArrived: false, cause: { message: 'connect timeout' } });
      calls.close();
    }
    expect(behind.requests).toEqual(['CONNECT provider.example:443']);
  });

  it('is given up at once if its caller leaves while the tunnel is made', async () => {
    const mute = await startMuteServer();
    stops.push(mute.stop);
    const proxy = readProxyEnvironment({ HTTPS_PROXY: `http://127.0.0.1:${mute.port}` });
    const calls = createOutgoingCalls({ clock: systemClock, socketsMax: 4, idleSocketMs: 15_000, proxy });
    const caller = new AbortController();
    const url = new URL('https://provider.example/v1');
    const { signal } = caller;
    const sending = calls.send({ url, method: 'POST', headers: {}, body: '{}', connectTimeoutMs: 60_000, signal });
    const failed = failureOf(sending);
    await mute.connected;
    caller.abort();
    expect(await failed).toMatchObject({ mayHaveArrived: false });
    calls.close();
  });

  it('is how a document of another server is read', async () => {
    const { proxy, url } = await start();
    const read = { url: new URL('https://provider.example/keys'), timeoutMs: 5_000, bytesMax: 100, clock: systemClock };
    expect(await fetchText({ ...read, proxy: readProxyEnvironment({ HTTPS_PROXY: url }) })).toBe('served');
    expect(proxy.requests).toEqual(['CONNECT provider.example:443']);
  });
});
