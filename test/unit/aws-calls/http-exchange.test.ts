// What a broken connection proves about the request: whether it may have been read.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ConnectionBroken, createHttpExchanger } from '../../../shared/aws-calls/http-exchange.ts';
import { type Clock, systemClock } from '../../../shared/time/index.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serverThat(treats: (socket: Socket) => void): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    treats(socket);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, sockets };
}

function exchangeWith(url: string, clock: Clock = systemClock, signal = new AbortController().signal) {
  const exchanger = createHttpExchanger(clock, 4);
  return exchanger
    .exchange({ url: new URL(url), method: 'POST', headers: {}, body: Buffer.from('{}'), answerMaxBytes: 100, signal })
    .catch((error: unknown) => error);
}

describe('a request that got no answer', () => {
  it('never left where nobody listens', async () => {
    const { port } = await serverThat(() => {});
    servers.splice(0).map((server) => server.close());
    expect(await exchangeWith(`http://127.0.0.1:${port}`)).toMatchObject({ mayHaveArrived: false });
  });

  it('never left where the name is unknown', async () => {
    const error = await exchangeWith('http://nobody.invalid');
    expect(error).toBeInstanceOf(ConnectionBroken);
    expect(error).toMatchObject({ mayHaveArrived: false });
  });

  it('never left where connecting took too long', async () => {
    const { port } = await serverThat(() => {});
    const timeIsUp: Clock = {
      ...systemClock,
      after(_delayMs, callback) {
        callback();
        return () => {};
      },
    };
    const error = await exchangeWith(`http://127.0.0.1:${port}`, timeIsUp);
    expect(error).toMatchObject({ mayHaveArrived: false, cause: { message: 'connect timeout' } });
  });

  it('never left where the handshake of an encrypted connection broke', async () => {
    const { port } = await serverThat((socket) => socket.destroy());
    expect(await exchangeWith(`https://127.0.0.1:${port}`)).toMatchObject({ mayHaveArrived: false });
  });

  it('may have arrived where the connection broke after it', async () => {
    const { port } = await serverThat((socket) => socket.once('data', () => socket.destroy()));
    expect(await exchangeWith(`http://127.0.0.1:${port}`)).toMatchObject({ mayHaveArrived: true });
  });

  it('may have arrived where the answer broke off', async () => {
    const { port } = await serverThat((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"half')),
    );
    expect(await exchangeWith(`http://127.0.0.1:${port}`)).toMatchObject({ mayHaveArrived: true });
  });

  it('may have arrived where its caller gave up after sending it, and its socket is closed', async () => {
    const caller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const { port } = await serverThat((socket) => {
      socket.once('data', () => caller.abort());
      socket.once('close', () => closed.resolve());
    });
    expect(await exchangeWith(`http://127.0.0.1:${port}`, systemClock, caller.signal)).toMatchObject({
      mayHaveArrived: true,
    });
    await closed.promise;
  });
});
