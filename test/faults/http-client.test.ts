// The client of the harness answers as `fetch` does, so that a test means the same with either.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { sendRequest } from '../support/http-client.ts';

type Send = (url: string, request?: Parameters<typeof sendRequest>[1]) => Promise<Response>;
const clients: readonly [string, Send][] = [
  [
    'fetch',
    (url, request) => fetch(url, { redirect: 'manual', ...request, signal: request?.signal ?? null } as RequestInit),
  ],
  ['sendRequest', (url, request) => sendRequest(url, request)],
];

const long = 'x'.repeat(300_000);
const answers: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  '/json': (response) =>
    response.writeHead(201, { 'x-twice': ['a', 'b'], 'content-type': 'application/json' }).end('{"a":1}'),
  '/empty': (response) => response.writeHead(204).end(),
  '/redirect': (response) => response.writeHead(302, { location: '/json' }).end(),
  '/long': (response) => response.end(long),
  '/pieces': (response) => {
    response.write('first');
    response.write(' second');
    response.end(' third');
  },
  '/broken': (response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('some', () => response.destroy());
  },
  '/never': () => {},
};

describe.each(clients)('an answer to %s', (_name, send) => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => void answers[request.url ?? '']?.(response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('has its status, its headers and its JSON', async () => {
    const answer = await send(`${url}/json`, { method: 'POST', body: '{}' });
    expect([answer.status, answer.ok, answer.headers.get('x-twice')]).toEqual([201, true, 'a, b']);
    expect(await answer.json()).toEqual({ a: 1 });
  });

  it('is not followed where it redirects, and may be empty', async () => {
    expect((await send(`${url}/redirect`)).headers.get('location')).toBe('/json');
    expect(await (await send(`${url}/empty`)).text()).toBe('');
  });

  it.each(['/json', '/long'])('is read by its clone and by itself: %s', async (path) => {
    const answer = await send(`${url}${path}`);
    const clone = answer.clone();
    expect(await clone.text()).toBe(await answer.text());
  });

  it('is read piece by piece to its end', async () => {
    const { body } = await send(`${url}/pieces`);
    const texts: string[] = [];
    for await (const piece of body ?? []) texts.push(Buffer.from(piece).toString());
    expect(texts.join('')).toBe('first second third');
  });

  it('rejects if the connection breaks before its end, as a whole and as a stream', async () => {
    await expect((await send(`${url}/broken`)).text()).rejects.toThrow('terminated');
    const reader = (await send(`${url}/broken`)).body?.getReader();
    const readAll = async () => {
      while ((await reader?.read())?.done === false);
    };
    await expect(readAll()).rejects.toThrow('terminated');
  });

  it('is a rejection with the reason of its abort, or of a server that is not there', async () => {
    const controller = new AbortController();
    const sending = send(`${url}/never`, { signal: controller.signal });
    controller.abort(new Error('no longer wanted'));
    await expect(sending).rejects.toThrow('no longer wanted');
    await expect(send('http://127.0.0.1:9')).rejects.toThrow('fetch failed');
  });
});
