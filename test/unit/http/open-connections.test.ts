// Bounds of connections before they have a request, over real sockets on 127.0.0.1.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from '#jest';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { createNodeConnections } from '../../../shared/protocol/http/node-connections.ts';
import { malformedRequest } from '../../../shared/protocol/http/node-refusals.ts';
import { call, connected } from '../../support/raw-http.ts';
import { withoutHttp2 } from './fixtures.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function serve(bounds: Parameters<typeof createNodeConnections>[2]) {
  const server = createServer({ requireHostHeader: false });
  const connections = createNodeConnections(server, withoutHttp2(), bounds);
  const servedSockets: Duplex[] = [];
  server.on('request', (incoming, outgoing) =>
    connections.begin(incoming, outgoing, () => {
      servedSockets.push(incoming.socket);
      if (incoming.url === '/key') connections.markAuthenticated(incoming);
      if (incoming.url === '/fails') throw new Error('a fault of ours');
      if (incoming.url !== '/waits') outgoing.end('{}');
    }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (bytes = '') => {
    const socket = await connected(port);
    socket.resume().write(bytes);
    ends.push(() => socket.destroy());
    // These turns come after everything that was sent before.
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    return socket;
  };
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, open, connections, servedSockets };
}

it('what is closed at a bound is reported as memory that is about to be free, and what a client closes is not', async () => {
  const releasedBytes: number[] = [];
  const { open } = await serve({ unauthenticatedMax: 2, onClose: (bytes) => releasedBytes.push(bytes) });
  const first = await open('GET / HTTP/1.1\r\nA: ');
  const second = await open();
  expect(releasedBytes).toEqual([]);
  await open();
  await ended(first);
  expect(releasedBytes).toEqual([expect.any(Number)]);
  expect(releasedBytes[0]).toBeGreaterThan(4 * 1024);
  second.destroy();
  await ended(second);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(releasedBytes).toHaveLength(1);
});

const ended = async (socket: Socket) => {
  while (!socket.closed) await nextTurn();
};

describe('connections', () => {
  it('are bounded: beyond, the oldest that has not ended its head is closed, and the new one is served', async () => {
    const { port, open } = await serve({ connectionsMax: 4 });
    const servedSocket = await open('GET /waits HTTP/1.1\r\n\r\n');
    const [silent, inHead, later] = [await open(), await open('GET / HTTP/1.1\r\nA: '), await open('GET')];
    expect((await call(port)).status).toBe(200);
    await ended(inHead);
    expect([servedSocket, silent, later].map(({ closed }) => closed)).toEqual([false, false, false]);
  });

  it('that wait for nothing but their first byte are closed in the order in which they came', async () => {
    const { port, open } = await serve({ connectionsMax: 2 });
    const [first, second] = [await open(), await open()];
    expect((await call(port)).status).toBe(200);
    await ended(first);
    expect(second.closed).toBe(false);
  });

  it('that all are being served take no further one, and stay', async () => {
    const { port, open } = await serve({ connectionsMax: 2 });
    const servedSockets = [await open('GET /waits HTTP/1.1\r\n\r\n'), await open('GET /waits HTTP/1.1\r\n\r\n')];
    await expect(call(port)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(servedSockets.map(({ closed }) => closed)).toEqual([false, false]);
  });

  it('without a key that exists have a bound of their own, which those that showed one neither fill nor pay for', async () => {
    const { port, open } = await serve({ unauthenticatedMax: 3 });
    const withKey = [];
    for (let index = 0; index < 4; index += 1)
      withKey.push(await open('GET /key HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nA: '));
    const strangers = [await open('GET /waits HTTP/1.1\r\n\r\n'), await open('GET'), await open()];
    expect((await call(port)).status).toBe(200);
    await ended(strangers[1] as Socket);
    expect([...withKey, strangers[0], strangers[2]].map((socket) => socket?.closed)).toEqual(new Array(6).fill(false));
  });

  it('of which all without a key are being served take no further one', async () => {
    const { port, open } = await serve({ unauthenticatedMax: 1 });
    const keyed = await open('GET /key HTTP/1.1\r\n\r\n');
    const servedSocket = await open('GET /waits HTTP/1.1\r\n\r\n');
    await expect(call(port)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect([keyed.closed, servedSocket.closed]).toEqual([false, false]);
  });

  it('keep heads that are counted as they are allocated: many short lines cost more than one long one', async () => {
    const { port, open } = await serve({ headsMaxBytes: 64 * 1024 });
    const long = `GET / HTTP/1.1\r\nA: ${'a'.repeat(4_000)}`;
    const lines = `GET / HTTP/1.1\r\n${'ab: c\r\n'.repeat(3_000 / 7)}A: `;
    const ofLines = [await open(lines)];
    expect((await call(port)).status).toBe(200);
    expect(ofLines.map(({ closed }) => closed)).toEqual([false]);
    ofLines.push(await open(long));
    expect((await call(port)).status).toBe(200);
    await ended(ofLines[0] as Socket);
    const ofOneLine = [];
    for (let index = 0; index < 5; index += 1) ofOneLine.push(await open(long));
    expect((await call(port)).status).toBe(200);
    expect([...ofLines.slice(1), ...ofOneLine].map(({ closed }) => closed)).toEqual(new Array(6).fill(false));
  });

  it('keep a bounded number of bytes of heads that have not ended: beyond, the oldest of those ends', async () => {
    const { port, open } = await serve({ headsMaxBytes: 38 * 1024 });
    const silent = await open();
    const part = `GET / HTTP/1.1\r\nA: ${'a'.repeat(3_000)}`;
    const heads = [];
    for (let index = 0; index < 6; index += 1) heads.push(await open(part));
    expect((await call(port)).status).toBe(200);
    expect(heads.map(({ closed }) => closed)).toEqual([true, true, false, false, false, false]);
    expect(silent.closed).toBe(false);
    // Completed heads do not count any more.
    for (const socket of heads.slice(2)) socket.write('\r\n\r\n');
    await call(port);
    const more = [await open(part), await open(part), await open(part)];
    await call(port);
    expect([...heads.slice(2), ...more].map(({ closed }) => closed)).toEqual(new Array(7).fill(false));
  });
});

it('a server refuses the heads of a hundred connections in one turn, and those of others in later ones', async () => {
  const { open, connections, servedSockets } = await serve({});
  for (let index = 0; index < 250; index += 1) await open('GET / HTTP/1.1\r\n\r\nGET /late HTTP/1.1\r\nA: ');
  while (servedSockets.length < 250) await nextTurn();
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  const heads: string[] = [];
  for (const connection of servedSockets)
    connections.refuse(connection, malformedRequest(), (head) => heads.push(head));
  const counts = [heads.length];
  while (heads.length < 250) {
    await nextTurn();
    counts.push(heads.length);
  }
  expect(counts.filter((count, at) => count !== counts[at - 1])).toEqual([100, 200, 250]);
  expect(new Set(heads)).toEqual(new Set(['GET /late HTTP/1.1\r\nA: ']));
  // Refusing a connection a second time has no effect.
  for (const connection of servedSockets)
    connections.refuse(connection, malformedRequest(), (head) => heads.push(head));
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(heads).toHaveLength(250);
});

describe('requests that were sent together', () => {
  it('of which one meets a fault of ours lose their connection, and those of others are served in their turn', async () => {
    const { port, open } = await serve({});
    const faulty = await open('GET /fails HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n');
    await ended(faulty);
    const socket = await connected(port);
    socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(2));
    let text = '';
    while (text.split('HTTP/1.1 200').length < 3) text += String((await once(socket, 'data'))[0]);
    socket.destroy();
  });
});
