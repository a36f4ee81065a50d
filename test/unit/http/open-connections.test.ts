// Over real sockets on 127.0.0.1: what connections may keep before there is a request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from '#jest';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { createNodeConnections, type NodeConnectionBounds } from '../../../shared/protocol/http/node-connections.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { call, connected } from '../../support/raw-http.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function serve(bounds: NodeConnectionBounds) {
  const server = createServer({ requireHostHeader: false });
  const connections = createNodeConnections(server, manualClock(), bounds);
  server.on('request', (incoming, outgoing) =>
    connections.begin(incoming, outgoing, () => {
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
    // Behind all that was sent before.
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    return socket;
  };
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, open };
}

const ended = async (socket: Socket) => {
  while (!socket.closed) await nextTurn();
};

describe('connections', () => {
  it('are bounded: beyond, the oldest that has not ended its head is closed, and the new one is served', async () => {
    const { port, open } = await serve({ connectionsMax: 4 });
    const served = await open('GET /waits HTTP/1.1\r\n\r\n');
    const [silent, inHead, later] = [await open(), await open('GET / HTTP/1.1\r\nA: '), await open('GET')];
    expect((await call(port)).status).toBe(200);
    await ended(inHead);
    expect([served, silent, later].map(({ closed }) => closed)).toEqual([false, false, false]);
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
    const served = [await open('GET /waits HTTP/1.1\r\n\r\n'), await open('GET /waits HTTP/1.1\r\n\r\n')];
    await expect(call(port)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(served.map(({ closed }) => closed)).toEqual([false, false]);
  });

  it('keep a bounded number of bytes of heads that have not ended: beyond, the oldest of those ends', async () => {
    const { port, open } = await serve({ headsMaxBytes: 24 * 1024 });
    const silent = await open();
    const part = `GET / HTTP/1.1\r\nA: ${'a'.repeat(3_000)}`;
    const heads = [];
    for (let opened = 0; opened < 6; opened += 1) heads.push(await open(part));
    expect((await call(port)).status).toBe(200);
    expect(heads.map(({ closed }) => closed)).toEqual([true, true, false, false, false, false]);
    expect(silent.closed).toBe(false);
    // Completed heads count no more.
    for (const socket of heads.slice(2)) socket.write('\r\n\r\n');
    await call(port);
    const more = [await open(part), await open(part), await open(part)];
    await call(port);
    expect([...heads.slice(2), ...more].map(({ closed }) => closed)).toEqual(new Array(7).fill(false));
  });
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
