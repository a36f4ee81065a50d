// After a broken connection the gateway concludes whether the provider may have read the request.
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '#jest';
import {
  ConnectionBroken,
  createOutgoingCalls,
  type OutgoingAnswer,
  readText,
} from '../../../shared/foundation/outgoing/index.ts';
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type SocketServer, startSocketServer, unusedPort } from '../../support/socket-server.ts';

const servers: SocketServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serverThat(treat: (socket: Socket) => void): Promise<SocketServer> {
  const server = await startSocketServer(treat);
  servers.push(server);
  return server;
}

const idleSocketMs = 15_000;

function sendTo(url: string, clock: Clock = systemClock, signal = new AbortController().signal) {
  const calls = createOutgoingCalls({ clock, socketsMax: 4, idleSocketMs });
  return calls.send({ ...postTo(url), signal }).then(readAll, (error: unknown) => error);
}

const postTo = (url: string) => ({
  url: new URL(url),
  method: 'POST' as const,
  headers: {},
  body: Buffer.from('{}'),
  connectTimeoutMs: 300,
  signal: new AbortController().signal,
});

const readAll = ({ body }: OutgoingAnswer) => readText(body, 1_000);

describe('a request that got no answer', () => {
  it('never left if nothing listens', async () => {
    expect(await sendTo(`http://127.0.0.1:${await unusedPort()}`)).toMatchObject({ mayHaveArrived: false });
  });

  it('never left if the name is unknown', async () => {
    const error = await sendTo('http://unknown.invalid');
    expect(error).toBeInstanceOf(ConnectionBroken);
    expect(error).toMatchObject({ mayHaveArrived: false });
  });

  it('never left if connecting took too long', async () => {
    const timeIsUp: Clock = {
      ...systemClock,
      after(_delayMs, callback) {
        callback();
        return () => {};
      },
    };
    const error = await sendTo(`http://127.0.0.1:${await unusedPort()}`, timeIsUp);
    expect(error).toMatchObject({ mayHaveArrived: false, cause: { message: 'connect timeout' } });
  });

  it('never left if the handshake of an encrypted connection broke', async () => {
    const { port } = await serverThat((socket) => socket.destroy());
    expect(await sendTo(`https://127.0.0.1:${port}`)).toMatchObject({ mayHaveArrived: false });
  });

  it('may have arrived if the connection broke after it', async () => {
    const { port } = await serverThat((socket) => socket.once('data', () => socket.destroy()));
    expect(await sendTo(`http://127.0.0.1:${port}`)).toMatchObject({ mayHaveArrived: true });
  });

  it('may have arrived if its caller gave up after sending it, and its socket is closed', async () => {
    const caller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const { port } = await serverThat((socket) => {
      socket.once('data', () => caller.abort());
      socket.once('close', () => closed.resolve());
    });
    expect(await sendTo(`http://127.0.0.1:${port}`, systemClock, caller.signal)).toMatchObject({
      mayHaveArrived: true,
    });
    await closed.promise;
  });
});

describe('a pooled socket', () => {
  const answers = (socket: Socket) =>
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));

  it('carries the next request', async () => {
    const { port, sockets } = await serverThat(answers);
    const calls = createOutgoingCalls({ clock: systemClock, socketsMax: 4, idleSocketMs });
    for (let call = 0; call < 3; call += 1) {
      expect(await readAll(await calls.send(postTo(`http://127.0.0.1:${port}`)))).toBe('ok');
    }
    expect(sockets.size).toBe(1);
    calls.close();
  });

  it('stays open beside a request that ends well, however fast its answer comes', async () => {
    const { port, sockets } = await serverThat(answers);
    const calls = createOutgoingCalls({ clock: systemClock, socketsMax: 4, idleSocketMs });
    const send = async () => readAll(await calls.send(postTo(`http://127.0.0.1:${port}`)));
    await Promise.all([send(), send(), send()]);
    for (let call = 0; call < 3; call += 1) expect(await send()).toBe('ok');
    await Promise.all([send(), send(), send()]);
    expect(sockets.size).toBe(3);
    calls.close();
  });

  it('needs no time to be drained if its answer was read to the end, as every translated one is', async () => {
    let timers = 0;
    const clock: Clock = {
      ...systemClock,
      after(delayMs, callback) {
        timers += 1;
        return systemClock.after(delayMs, callback);
      },
    };
    const { port } = await serverThat(answers);
    const calls = createOutgoingCalls({ clock, socketsMax: 4, idleSocketMs });
    const answer = await calls.send(postTo(`http://127.0.0.1:${port}`));
    expect(await readAll(answer)).toBe('ok');
    const before = timers;
    answer.drain();
    expect(timers).toBe(before);
    calls.close();
  });

  it('is not used after a sleep in which the other end may have closed it, and no timer has run', async () => {
    const clock = manualClock();
    const { port, sockets } = await serverThat(answers);
    const calls = createOutgoingCalls({ clock, socketsMax: 4, idleSocketMs });
    const send = async () => readAll(await calls.send(postTo(`http://127.0.0.1:${port}`)));
    await Promise.all([send(), send(), send()]);
    expect(sockets.size).toBe(3);
    clock.advance(idleSocketMs + 1);
    await send();
    expect(sockets.size).toBe(4);
    calls.close();
  });

  it('that breaks while its request may be at work is not called dead', async () => {
    const clock = manualClock();
    const { port } = await serverThat((socket) => {
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) return void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        clock.advance(501);
        socket.destroy();
      });
    });
    const calls = createOutgoingCalls({ clock, socketsMax: 4, idleSocketMs });
    await readAll(await calls.send(postTo(`http://127.0.0.1:${port}`)));
    await expect(calls.send(postTo(`http://127.0.0.1:${port}`))).rejects.toMatchObject({ wasDead: false });
    calls.close();
  });

  it('that turns out dead takes its idle neighbours to the same address along, so the next request gets a fresh one', async () => {
    const dead = new Set<Socket>();
    const server = await serverThat((socket) => {
      socket.on('data', () => {
        if (dead.has(socket)) socket.destroy();
        else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      });
    });
    const calls = createOutgoingCalls({ clock: systemClock, socketsMax: 4, idleSocketMs });
    const send = async () => readAll(await calls.send(postTo(`http://127.0.0.1:${server.port}`)));
    await Promise.all([send(), send(), send()]);
    for (const socket of server.sockets) dead.add(socket);
    await expect(send()).rejects.toMatchObject({ wasDead: true, mayHaveArrived: true });
    expect(await send()).toBe('ok');
    expect(server.sockets.size).toBe(4);
    calls.close();
  });
});
