// Why a provider was not reached: operators see it wherever they look, and clients never do.
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { attemptLine } from '../../infra/local/terminal-log.ts';
import { callDocument, operatorCallDocument } from '../../shared/accounting/call-records/index.ts';
import { expectError } from '../support/expect-error.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { operatorOf } from '../support/operator-requests.ts';
import { startServerWith, trustTestAuthority } from '../support/refused-certificates.ts';
import { startSocketServer, unusedPort } from '../support/socket-server.ts';

interface Stoppable {
  stop(): Promise<void>;
}
const running: Stoppable[] = [];

async function startRaw(treat: (socket: Socket) => void): Promise<number> {
  const server = await startSocketServer(treat);
  running.push(server);
  return server.port;
}

async function startSecure(name: Parameters<typeof startServerWith>[0]): Promise<string> {
  const server = await startServerWith(name);
  running.push(server);
  return `https://localhost:${server.port}`;
}

/** Addresses of faulty servers by the reason that the gateway reports. */
const servers: Readonly<Record<string, () => Promise<string>>> = {
  dns_not_found: async () => 'https://nobody.invalid',
  refused: async () => `https://127.0.0.1:${await unusedPort()}`,
  reset: async () =>
    `http://127.0.0.1:${await startRaw((socket) => socket.once('data', () => socket.resetAndDestroy()))}`,
  closed: async () => `http://127.0.0.1:${await startRaw((socket) => socket.once('data', () => socket.end()))}`,
  tls_self_signed: () => startSecure('selfSigned'),
  tls_unknown_authority: () => startSecure('unknownAuthority'),
  tls_expired: () => startSecure('expired'),
  tls_not_yet_valid: () => startSecure('notYetValid'),
  tls_wrong_name: () => startSecure('otherName'),
  not_tls: async () =>
    `https://127.0.0.1:${await startRaw((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))}`,
  not_http: async () =>
    `http://127.0.0.1:${await startRaw((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')))}`,
  proxy_status_407: async () => 'https://behind.example',
};
const advice: Readonly<Record<string, string>> = {
  tls_self_signed: 'NODE_EXTRA_CA_CERTS',
  tls_unknown_authority: 'NODE_EXTRA_CA_CERTS',
  tls_wrong_name: 'base_url',
  proxy_status_407: 'HTTPS_PROXY',
};
const words = Object.keys(servers);
const providerOf = (word: string) => word.replaceAll('_', '-');

describe('a provider that is not reached', () => {
  let gateway: Harness;
  let forget: () => void;

  beforeAll(async () => {
    forget = trustTestAuthority();
    const proxy = await startForwardProxy({});
    proxy.refuseWith(407);
    running.push(proxy);
    process.env.HTTPS_PROXY = `http://127.0.0.1:${proxy.port}`;
    process.env.NO_PROXY = 'nobody.invalid';
    const urls = await Promise.all(words.map(async (word) => [word, await servers[word]?.()] as const));
    const providers = urls.map(([word, url]) => [providerOf(word), { base_url: `${url}/v1` }] as const);
    gateway = await startHarness({
      models: {
        ...Object.fromEntries(
          words.map((word) => [`test/${word}`, [{ provider: providerOf(word), upstream: 'model' }]]),
        ),
        'test/translated': [{ provider: 'translated', upstream: 'model' }],
      },
      providers: {
        ...Object.fromEntries(providers),
        translated: { base_url: `https://127.0.0.1:${await unusedPort()}/v1`, apis: ['messages'] },
      },
    });
  });
  afterAll(async () => {
    delete process.env.HTTPS_PROXY;
    delete process.env.NO_PROXY;
    await gateway.stop();
    for (const server of running) await server.stop();
    forget();
  });

  it.each(words)('is said to be %s in log, record and console, and in no answer', async (word) => {
    const response = await gateway.post(hello(`test/${word}`));
    const { message } = await expectError(response, 502, 'no_available_provider');
    expect(message).not.toContain(word);
    const record = await gateway.recordOf(response);
    if (record === undefined) throw new Error('the call has no record');
    const outcome = word.startsWith('proxy_') ? word : 'connection';
    const [attempt] = operatorCallDocument(record).attempts;
    expect(attempt).toMatchObject({ provider: providerOf(word), outcome, reason: word });
    expect(JSON.stringify(callDocument(record)).replaceAll(`test/${word}`, '')).not.toContain(`"reason":`);

    const lines = gateway.logLines.map((line) => JSON.parse(line));
    const failed = lines.findLast(({ event }) => event === 'attempt_failed');
    expect(failed).toMatchObject({ outcome, reason: word });
    expect(attemptLine(failed, false)).toContain(`${word}: `);
    expect(attemptLine(failed, false)).toContain(advice[word] ?? '');
    const finished = lines.findLast(({ provider_path: path }) => path !== undefined);
    expect(finished.provider_path).toContain(word);

    const ada = await operatorOf(gateway, `ada-${providerOf(word)}`);
    const shownCall = await ada.get(`/calls/${response.headers.get('x-request-id')}`);
    expect(shownCall.body.data.attempts[0].reason).toBe(word);
    const providers: { id: string; models: { state: string; reason: string | null }[] }[] = (
      await ada.get('/providers?limit=200')
    ).body.data;
    expect(providers.find(({ id }) => id === providerOf(word))?.models).toEqual([
      expect.objectContaining({ state: 'failing', reason: word }),
    ]);
  });

  it.each([false, true])('is said of a translated call too; streamed: %s', async (stream) => {
    const response = await gateway.post(hello('test/translated', { stream }));
    await expectError(response, 502, 'no_available_provider');
    expect((await gateway.recordOf(response))?.attemptLog).toMatchObject([
      { outcome: 'connection', reason: 'refused' },
    ]);
  });
});
