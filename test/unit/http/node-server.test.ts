// A server over real sockets on 127.0.0.1, with small gateways.
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, jest } from '#jest';
import type { GatewayError } from '../../../shared/errors/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import {
  createNodeServer,
  type Gateway,
  type GatewayRequest,
  type NodeServer,
} from '../../../shared/protocol/http/index.ts';
import { createNodeConnections } from '../../../shared/protocol/http/node-connections.ts';
import { readPlainBody } from '../../../shared/protocol/http/plain-body.ts';
import { createMemoryBudget } from '../../../shared/protocol/memory-budget/index.ts';
import { manualClock, startMs } from '../../support/manual-clock.ts';
import { call, connected, exchangeBytes, open } from '../../support/raw-http.ts';
import { adapterDependencies, answering, eventStream, gate, partsOf, withoutHttp2 } from './fixtures.ts';

const hardSize = 4 * 1024 * 1024;
const host = '127.0.0.1';
const servers: NodeServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(gateway: Gateway) {
  const adapter = adapterDependencies();
  const server = createNodeServer(gateway, adapter.dependencies);
  servers.push(server);
  return { ...adapter, server, port: await server.listen(0, host) };
}

/**
 * Returns a gateway that reads the body of every request and answers with `{}`, or with the message for which the
 * request or its body was refused.
 */
function recorder() {
  const requests: GatewayRequest[] = [];
  const refusedRequests: GatewayRequest[] = [];
  const bodies: (Buffer | string)[] = [];
  const gateway: Gateway = async (request, { refusal }) => {
    if (refusal !== undefined) {
      refusedRequests.push(request);
      return refuse(refusal);
    }
    requests.push(request);
    try {
      bodies.push(await request.readBody());
      return { status: 200, headers: {}, body: '{}' };
    } catch (error) {
      bodies.push((error as GatewayError).code);
      return refuse(error as GatewayError);
    }
  };
  return { requests, refusedRequests, bodies, gateway };
}

const refuse = ({ entry: { status }, message }: GatewayError) => ({ status, headers: {}, body: message });

/** Returns a finish function that counts its calls. */
function counter() {
  const first = gate();
  const count = { value: 0 };
  const finish = async () => {
    count.value += 1;
    first.open();
  };
  return { count, finish, firstCall: first.opened };
}

/** Returns a stream that yields `first` and then waits for `opened`, and reports its release. */
function waitingStream(first: string, opening: Promise<unknown>) {
  const release = gate();
  async function* body() {
    try {
      yield first;
      await opening;
      yield 'data: [DONE]\n\n';
    } finally {
      release.open();
    }
  }
  return { body: partsOf(body()), released: release.opened };
}

describe('a request', () => {
  it('has its body read only when it is asked for, and the connection of one that never was ends', async () => {
    const { port } = await serve(answering({ status: 401, body: '{}' }));
    const socket = await connected(port);
    socket.write('POST / HTTP/1.1\r\nContent-Length: 3000000\r\n\r\nabc');
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 401 .*connection: close/is);
    socket.destroy();
  });

  it('that was answered without its body keeps its connection, if the body is short', async () => {
    const { port } = await serve(answering({ body: '{}' }));
    const agent = new Agent({ keepAlive: true });
    const first = await open(port, { agent, method: 'POST', body: 'abc' });
    const { socket } = first;
    await text(first);
    await nextTurn();
    const second = await open(port, { agent });
    expect(second.socket).toBe(socket);
    await text(second);
    agent.destroy();
  });

  it('that waits to be asked for its body is asked by the gateway alone', async () => {
    const { bodies, gateway } = recorder();
    const { port } = await serve(gateway);
    const expecting = 'POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n';
    const socket = await connected(port);
    socket.write(expecting);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /);
    socket.write('abc');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
    expect(bodies).toEqual([Buffer.from('abc')]);
    const refusing = await serve(answering({ status: 401, body: '{}' }));
    const refusal = await connected(refusing.port);
    refusal.write(expecting);
    expect(String((await once(refusal, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /);
    refusal.destroy();
  });

  it('whose body finds no memory waits for it with its client, and is refused if none comes in time', async () => {
    const clock = manualClock();
    const budget = createMemoryBudget(clock, { maxBytes: 6 * 1024 * 1024 });
    const other = budget.open().openRequest();
    const { port } = await serve(async (request) => {
      const memory = budget.open();
      try {
        const taking = { allocation: memory.openRequest(), workspace: 'a', weight: 1 };
        return { status: 200, headers: {}, body: String((await readPlainBody(request, taking)).length) };
      } catch (error) {
        const { code, exhausted } = error as GatewayError;
        return { status: 503, headers: {}, body: `${code} ${exhausted}` };
      } finally {
        memory.end();
      }
    });
    const send = (length: number) => call(port, { method: 'POST', body: Buffer.alloc(length) });
    const largeCall = { workspace: 'b', bytes: 2 * 1024 * 1024, isLarge: true };
    await other.take(largeCall);
    const waits = send(hardSize);
    // A small request does not wait for it, and the waiting request holds no memory.
    expect((await send(1_000)).body).toBe('1000');
    expect(budget.bytesInUse()).toBe(largeCall.bytes);
    other.keepOnly(0);
    expect((await waits).body).toBe(String(hardSize));
    await other.take(largeCall);
    let isAnswered = false;
    const refusal = send(hardSize).finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) {
      clock.advance(1_800);
      await nextTurn();
    }
    expect(await refusal).toMatchObject({ status: 503, body: 'RATE_LIMITER_UNAVAILABLE process_memory' });
    expect(budget.bytesInUse()).toBe(largeCall.bytes);
  });

  it.each([
    ['of a length', { 'content-length': String(hardSize) }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('%s that is slow gives way to one that waits: it is refused, and its connection ends', async (_name, length) => {
    const clock = manualClock();
    const budget = createMemoryBudget(clock, { maxBytes: 6 * 1024 * 1024 });
    const { port, clock: serverClock } = await serve(async (request) => {
      const memory = budget.open();
      const taking = { allocation: memory.openRequest(), workspace: request.path, weight: 1 };
      const answer = await readPlainBody(request, taking).then(
        (body) => ({ status: 200, headers: {}, body: String(body.length) }),
        (error: GatewayError) => refuse(error),
      );
      memory.end();
      return answer;
    });
    const slow = await connected(port);
    const [[name = '', value = '']] = Object.entries(length) as [[string, string]];
    slow.write(`POST /slow HTTP/1.1\r\n${name}: ${value}\r\n\r\n${name === 'content-length' ? '' : '11170\r\n'}`);
    slow.write('a'.repeat(70_000));
    while (budget.bytesInUse() < 2 * 1024 * 1024) await nextTurn();
    const ended = once(slow.resume(), 'close');
    let text = '';
    slow.on('data', (part) => {
      text += part;
    });
    clock.advance(10_000);
    let isAnswered = false;
    const fast = call(port, { method: 'POST', path: '/fast', body: Buffer.alloc(hardSize) }).finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) {
      await nextTurn();
      clock.advance(100);
    }
    expect((await fast).body).toBe(String(hardSize));
    // The server reads the rest for a while, so that the client can read the answer; then it ends the connection.
    while (slow.readyState === 'open' && text === '') await nextTurn();
    expect(slow.readyState).toBe('open');
    serverClock.advance(10_000);
    await ended;
    expect(text).toMatch(/^HTTP\/1\.1 503 [\s\S]*connection: close/i);
  });

  it.each([
    ['with a content-length', { 'content-length': String(hardSize + 1) }],
    ['without a content-length', { 'transfer-encoding': 'chunked' }],
  ])(
    'over the hard size, %s, is too_large for the gateway and its client reads the whole answer',
    async (_name, headers) => {
      const { bodies, gateway } = recorder();
      const { port } = await serve(gateway);
      const body = Buffer.alloc(hardSize + 1, 'a');
      const answer = await call(port, { method: 'POST', headers, body });
      expect(answer).toMatchObject({ status: 413, body: expect.stringMatching(/^The request body is too large/) });
      expect(answer.headers.connection).toBe('close');
      expect(bodies).toEqual(['request_too_large']);
    },
  );

  it.each([
    ['of a length', { 'content-length': String(hardSize) }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('of exactly the hard size, %s, is taken as it was sent, even if it is asked for late', async (_name, headers) => {
    const { bodies, gateway } = recorder();
    const { opened, open: ask } = gate();
    const { port } = await serve(async (request, context) => {
      await opened;
      return gateway(request, context);
    });
    const body = Buffer.alloc(
      hardSize,
      Uint8Array.from({ length: 251 }, (_, index) => index),
    );
    const answer = call(port, { method: 'POST', headers, body });
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    ask();
    expect((await answer).status).toBe(200);
    expect(body.equals(bodies[0] as Buffer)).toBe(true);
  });

  it('over the hard size whose body never comes is answered, and its connection is not kept for ever', async () => {
    const { gateway } = recorder();
    const { port, clock } = await serve(gateway);
    const socket = await connected(port);
    socket.write(`POST / HTTP/1.1\r\nContent-Length: ${hardSize + 1}\r\n\r\nx`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 413 /);
    let isClosed = false;
    socket.once('close', () => {
      isClosed = true;
    });
    while (!isClosed) {
      await nextTurn();
      clock.advance(3_000);
    }
  });

  it('whose client leaves in the middle of its body never has a body', async () => {
    const { bodies, gateway } = recorder();
    const { port, server } = await serve(gateway);
    const socket = await connected(port);
    socket.write('POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc');
    // The next request is answered, so the server has read the first part of this request.
    await call(port);
    socket.destroy();
    await server.close();
    expect(bodies).toEqual([Buffer.alloc(0), 'invalid_request']);
  });

  it('that is refused has what could be read of its head, and no line of it that was cut', async () => {
    const { refusedRequests, gateway } = recorder();
    const { port } = await serve(gateway);
    const head = 'PUT //v1/models/?a=b HTTP/1.1\r\nX-Gw-Trace-Id:  t-1 \r\nx-gw-trace-id: t-2\r\n: no name\r\n';
    await exchangeBytes(port, `${head}A: ${'a'.repeat(17 * 1024)}`);
    await exchangeBytes(port, 'hello\r\n\r\n');
    expect(refusedRequests[0]).toMatchObject({ method: 'PUT', path: '/v1/models', query: 'a=b', arrivedAtMs: startMs });
    expect(refusedRequests[0]?.headers).toEqual({ 'x-gw-trace-id': ['t-1', 't-2'] });
    expect(refusedRequests[1]).toMatchObject({ method: '', path: '/', query: '', headers: {} });
  });

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['headers over the limit', `GET / HTTP/1.1\r\nA: ${'a'.repeat(17 * 1024)}\r\n\r\n`],
    ['a broken chunk', 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ])('of %s after others is refused after their answers, and in none of them', async (_name, bytes) => {
    const { opened, open: answer } = gate();
    const seenPaths: string[] = [];
    const { port } = await serve(async ({ path, readBody }, { refusal }) => {
      seenPaths.push(path);
      if (path === '/first') await opened;
      const error =
        refusal ??
        (await readBody().then(
          () => undefined,
          (fault: GatewayError) => fault,
        ));
      if (error !== undefined) return refuse(error);
      return { status: 200, ...eventStream, body: waitingStream('data: 1\n\n', opened).body };
    });
    const socket = await connected(port);
    socket.write('GET /first HTTP/1.1\r\n\r\n');
    while (seenPaths.length === 0) await nextTurn();
    socket.write(`GET /second HTTP/1.1\r\n\r\n${bytes}`);
    await call(port, { method: 'HEAD' });
    expect(seenPaths).toEqual(['/first', '/']);
    answer();
    const receivedText = await text(socket);
    expect(receivedText.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(receivedText.match(/data: \[DONE\]\n\n\r\n0\r\n\r\nHTTP/g)).toHaveLength(2);
    expect(seenPaths).toHaveLength(4);
  });

  it('that its connection sends before it has the answer to the last waits for that, however many they are', async () => {
    const requestCount = 1_000;
    let running = 0;
    let mostRunning = 0;
    const { port } = await serve(async ({ path }) => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await Promise.resolve();
      running -= 1;
      return { status: 200, headers: {}, body: `<${path}>` };
    });
    const requests = Array.from({ length: requestCount }, (_, index) => `GET /${index} HTTP/1.1\r\n\r\n`);
    const receivedText = await exchangeBytes(
      port,
      `${requests.join('')}GET /last HTTP/1.1\r\nConnection: close\r\n\r\nGET /behind HTTP/1.1\r\n\r\n`,
    );
    const answerPaths = receivedText.match(/(?<=<\/).*(?=>)/g);
    expect(answerPaths).toEqual([...requests.keys()].map(String).concat('last'));
    expect(mostRunning).toBe(1);
  });

  it.each([
    ['of a length', 'GET / HTTP/1.1\r\n\r\n'],
    ['in chunks', 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('that comes with others after it is served when no other such one is, with a body %s', async (_name, one) => {
    const connections = 300;
    let running = 0;
    let mostRunning = 0;
    let answerCount = 0;
    const { port } = await serve(async ({ path }) => {
      if (path === '/alone') return { status: 200, headers: {}, body: String(running) };
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      // The request takes some turns, as a request that waits for the store does.
      for (let turns = 0; turns < 3; turns += 1) await nextTurn();
      running -= 1;
      answerCount += 1;
      return { status: 200, headers: {}, body: '{}' };
    });
    const sockets = await Promise.all(Array.from({ length: connections }, () => connected(port)));
    for (const socket of sockets) socket.write(one.repeat(2));
    while (running === 0) await nextTurn();
    // The request waits neither for all of them nor for many of them.
    expect((await call(port, { path: '/alone' })).body).toMatch(/^[01]$/);
    expect(answerCount).toBeLessThan(connections / 2);
    while (answerCount < connections) await nextTurn();
    expect(mostRunning).toBe(1);
    for (const socket of sockets) socket.destroy();
  });

  it('that comes with others after it and is slow keeps such ones of other connections waiting for 100 ms at most', async () => {
    const seenPaths: string[] = [];
    const { opened, open: answer } = gate();
    const { port, clock } = await serve(async ({ path }) => {
      seenPaths.push(path);
      if (path !== '/alone') await opened;
      return { status: 200, headers: {}, body: '{}' };
    });
    const sockets = await Promise.all([1, 2].map(() => connected(port)));
    for (const socket of sockets) socket.write('GET /slow HTTP/1.1\r\n\r\n'.repeat(2));
    while (seenPaths.length === 0) await nextTurn();
    expect((await call(port, { path: '/alone' })).status).toBe(200);
    clock.advance(99);
    await nextTurn();
    expect(seenPaths).toEqual(['/slow', '/alone']);
    clock.advance(1);
    while (seenPaths.length < 3) await nextTurn();
    answer();
    for (const socket of sockets) socket.destroy();
  });

  it.each([
    ['with bodies of a length', (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`],
    ['with bodies in chunks', (body: string) => `Transfer-Encoding: chunked\r\n\r\n4\r\n${body}\r\n0\r\n\r\n`],
    ['with empty lines before them', (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}\r\n\r\n\r\n`],
  ])('is taken whole wherever the network cuts what a connection sends, %s', async (_name, write) => {
    const { requests, bodies, gateway } = recorder();
    const { port } = await serve(gateway);
    const one = `POST /one HTTP/1.1\r\n${write('a\r\n\r')}`;
    const two = 'GET /two HTTP/1.1\r\n\r\n';
    for (let cut = 1; cut < one.length; cut += 1) {
      const socket = await connected(port);
      socket.setNoDelay(true);
      socket.write(one.slice(0, cut));
      await nextTurn();
      socket.write(one.slice(cut));
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
      socket.write(two);
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
      socket.destroy();
    }
    expect(requests.map(({ path }) => path)).toEqual(new Array(one.length - 1).fill(['/one', '/two']).flat());
    expect(new Set(bodies.map(String))).toEqual(new Set(['a\r\n\r', '']));
  });

  it('after a body in chunks that comes with it is not served: its connection ends with the answer', async () => {
    const { requests, gateway } = recorder();
    const { port } = await serve(gateway);
    const chunked = 'POST /one HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    const receivedText = await exchangeBytes(port, `${chunked}${'GET /two HTTP/1.1\r\n\r\n'.repeat(3_000)}`);
    expect(receivedText.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  it('is not served after an answer that its client does not read, until it does', async () => {
    // The length is above what the buffers of both sides hold.
    const length = 48 * 1024 * 1024;
    let servedCount = 0;
    const { port } = await serve(async ({ path }) => {
      if (path === '/large') servedCount += 1;
      return { status: 200, headers: {}, body: path === '/large' ? 'x'.repeat(length) : '{}' };
    });
    const socket = await connected(port);
    socket.write('GET /large HTTP/1.1\r\n\r\n'.repeat(3_000));
    await once(socket, 'readable');
    for (let others = 0; others < 20; others += 1) expect((await call(port)).status).toBe(200);
    expect(servedCount).toBe(1);
    let receivedBytes = 0;
    for await (const part of socket) {
      receivedBytes += (part as Buffer).length;
      if (receivedBytes > length + 10_000) break;
    }
    expect(servedCount).toBeGreaterThan(1);
  });

  it.each(['with a key', 'without a key'])(
    'whose answer is not read ends it for a call that waits (%s), and not before',
    async (kind) => {
      const clock = manualClock();
      const budget = createMemoryBudget(clock, { maxBytes: 144 * 1024 * 1024 });
      // The length is above what the buffers of both sides hold.
      const length = 48 * 1024 * 1024;
      let hasEnded = false;
      const { port } = await serve(async ({ path }) => {
        const memory = budget.open();
        if (path !== '/large') return { status: 200, headers: {}, body: '{}', memory };
        if (kind === 'with a key') await memory.openAnswer().take(length, { mayWait: true });
        const finish = async () => {
          memory.end();
          hasEnded = true;
        };
        return { status: 200, headers: {}, body: 'x'.repeat(length), memory, finish };
      });
      const socket = await connected(port);
      socket.on('error', () => {}).pause();
      socket.write('GET /large HTTP/1.1\r\n\r\n');
      while (budget.bytesInUse() < length / 2) await nextTurn();
      clock.advance(5_000);
      for (let others = 0; others < 20; others += 1) expect((await call(port)).status).toBe(200);
      expect(hasEnded).toBe(false);
      // Until these buffers are full, the answer moves on, so the server takes it as being read.
      while (!hasEnded) {
        const waiting = budget.open();
        const waits = waiting
          .openAnswer()
          .take(25 * 1024 * 1024, { mayWait: true })
          ?.catch(() => {});
        clock.advance(1_500);
        await waits;
        waiting.end();
        await nextTurn();
      }
      expect(budget.bytesInUse()).toBe(0);
      socket.destroy();
    },
  );

  it('waits in bounded memory with those of all connections: one that is beyond ends, and the others stay', async () => {
    const server = createServer({ requireHostHeader: false });
    const connections = createNodeConnections(server, withoutHttp2(), { waitingMaxBytes: 16 * 1024 });
    server.on('request', (incoming, outgoing) => connections.begin(incoming, outgoing, () => {}));
    server.listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [quiet, ...greedy] = await Promise.all(Array.from({ length: 4 }, () => connected(port)));
    quiet?.write('GET / HTTP/1.1\r\n\r\n'.repeat(2));
    const ended = greedy.map((socket) => once(socket.resume(), 'close'));
    for (const socket of greedy) socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(1_000));
    await Promise.race(ended);
    expect(quiet?.closed).toBe(false);
    for (const socket of [quiet, ...greedy]) socket?.destroy();
    server.close();
  });

  it('after 16 that were answered is served like the first', async () => {
    const { requests, gateway } = recorder();
    const { port } = await serve(gateway);
    const socket = await connected(port);
    for (let index = 1; index <= 40; index += 1) {
      socket.write('GET / HTTP/1.1\r\n\r\n');
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
      expect(requests).toHaveLength(index);
    }
    socket.destroy();
  });

  it('that asks for an unknown expectation or names no host is answered by the gateway all the same', async () => {
    const { requests, gateway } = recorder();
    const { port } = await serve(gateway);
    await exchangeBytes(port, 'GET / HTTP/1.1\r\nExpect: wonders\r\nConnection: close\r\n\r\n');
    expect(requests).toHaveLength(1);
  });
});

describe('an answer that is one text', () => {
  it('leaves with its head in one write, and its end adds none', async () => {
    const { port } = await serve(answering({ body: '{"a":1}' }));
    const socket = await connected(port);
    const writeSpy = jest.spyOn(Socket.prototype, '_write');
    const lists = jest.spyOn(Socket.prototype, '_writev' as never);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    await call(port);
    expect(lists).not.toHaveBeenCalled();
    const texts = writeSpy.mock.calls.map(([chunk]) => String(chunk)).filter((text) => text.startsWith('HTTP/1.1'));
    jest.restoreAllMocks();
    expect(texts[0]).toBe(String(answer));
    expect(texts[0]).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n\{"a":1\}$/s);
    socket.destroy();
  });
});

describe('a listener on a loopback address', () => {
  const hosts = (names: string[]) => names.map((name) => ({ host: name }));

  it('takes what names a loopback address, whatever the port', async () => {
    const { requests, gateway } = recorder();
    const { port } = await serve(gateway);
    for (const headers of hosts([
      '127.0.0.1',
      `127.0.0.1:${port}`,
      'localhost:1',
      'LOCALHOST',
      '[::1]:80',
      '127.8.9.1',
    ])) {
      expect((await call(port, { headers })).status).toBe(200);
    }
    expect(requests).toHaveLength(6);
  });

  it('refuses what names anything else through the gateway, and nothing of it is served', async () => {
    const { requests, refusedRequests, gateway } = recorder();
    const { port } = await serve(gateway);
    const names = [
      'attacker.example',
      '127.0.0.1.attacker.example',
      'localhost.attacker.example:80',
      '10.0.0.1',
      '[::2]',
    ];
    for (const headers of hosts(names)) {
      const answer = await call(port, { headers, method: 'POST', body: '{}' });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatch(/^The Host header must name a loopback address/);
    }
    expect(requests).toHaveLength(0);
    expect(refusedRequests).toHaveLength(names.length);
  });

  it('takes any name if a proxy is in front of it', async () => {
    const { dependencies } = adapterDependencies();
    const server = createNodeServer(answering({}), dependencies, { anyHost: true });
    servers.push(server);
    const port = await server.listen(0, host);
    expect((await call(port, { headers: { host: 'gw.example' } })).status).toBe(200);
  });
});

describe('an answer', () => {
  it('of text has its length in bytes, and its connection serves the next request', async () => {
    const { port } = await serve(answering({ headers: { a: 'b' }, body: '{"é":"😀"}' }));
    const agent = new Agent({ keepAlive: true });
    const first = await open(port, { agent });
    const { socket } = first;
    expect(first.headers).toMatchObject({ 'content-length': '13', a: 'b' });
    expect(await text(first)).toBe('{"é":"😀"}');
    await nextTurn();
    const second = await open(port, { agent });
    expect(second.socket).toBe(socket);
    await text(second);
    agent.destroy();
  });

  it('that streams sends its headers before its first chunk exists', async () => {
    const { opened, open: yieldFirst } = gate();
    async function* body() {
      await opened;
      yield 'data: [DONE]\n\n';
    }
    const { port } = await serve(answering({ ...eventStream, body: body() }));
    const incoming = await open(port);
    expect(incoming.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(incoming.headers['content-length']).toBeUndefined();
    yieldFirst();
    expect(await text(incoming)).toBe('data: [DONE]\n\n');
  });

  it('to HEAD has the headers and no body; a stream is released without being read', async () => {
    const { port } = await serve(answering({ body: '{"a":1}' }));
    const agent = new Agent({ keepAlive: true });
    const answer = await call(port, { method: 'HEAD', agent });
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(answer.headers['content-length']).toBe('7');
    agent.destroy();

    let read = 0;
    async function* body() {
      read += 1;
      yield 'x';
    }
    const streaming = await serve(answering({ body: body() }));
    expect((await call(streaming.port, { method: 'HEAD' })).body).toBe('');
    expect(read).toBe(0);
  });

  it('with a header that cannot be written is an internal_error envelope, its body released and finish run once', async () => {
    const { finish, count, firstCall } = counter();
    let returned = 0;
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true as const, value: undefined }),
        return: async () => {
          returned += 1;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const { port } = await serve(answering({ headers: { a: 'one\r\ntwo: three' }, body, finish }));
    const answer = await call(port);
    expect(answer.status).toBe(500);
    expect(answer.headers.two).toBeUndefined();
    expect(JSON.parse(answer.body).error).toBe('internal_error');
    await firstCall;
    expect([count.value, returned]).toEqual([1, 1]);
  });

  it('is made no faster than its client reads', async () => {
    const chunk = 'x'.repeat(1024 * 1024);
    const chunks = 64;
    let chunkCount = 0;
    let receivedBytes = 0;
    let mostAhead = 0;
    async function* body() {
      for (; chunkCount < chunks; chunkCount += 1) {
        mostAhead = Math.max(mostAhead, chunkCount * chunk.length - receivedBytes);
        yield chunk;
      }
    }
    const { port } = await serve(answering({ body: body() }));
    const incoming = await open(port);
    for await (const part of incoming) receivedBytes += (part as Buffer).length;
    expect(receivedBytes).toBe(chunks * chunk.length);
    // The kernel's buffers alone are far smaller than the 64 MB that would pile up.
    expect(mostAhead).toBeLessThan(24 * chunk.length);
  });

  it('to a reader that stopped for good is given up: body released, finish run once, connection destroyed', async () => {
    const { finish, count, firstCall } = counter();
    const release = gate();
    async function* body() {
      try {
        for (;;) yield 'x'.repeat(1024 * 1024);
      } finally {
        release.open();
      }
    }
    const { port, clock } = await serve(answering({ ...eventStream, body: body(), finish }));
    const socket = await connected(port);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await once(socket, 'readable');
    // The kernel's buffers accept one MB at a time until they are full; then only the clock moves.
    clock.advance(60_000);
    await release.opened;
    while (count.value === 0) {
      await nextTurn();
      clock.advance(10_000);
    }
    await firstCall;
    expect(count.value).toBe(1);
    socket.resume();
    await once(socket, 'close');
  });
});

describe('a client that hangs up', () => {
  it('from a stream that does not end is still finished with, after a bounded wait', async () => {
    const { finish, count, firstCall } = counter();
    const { body } = waitingStream('data: 1\n\n', new Promise(() => {}));
    const departure = gate();
    const { port, clock, events } = await serve(async (_request, { clientGone }) => {
      clientGone.addEventListener('abort', () => departure.open());
      return { status: 200, ...eventStream, body, finish };
    });
    const incoming = await open(port);
    await once(incoming, 'data');
    incoming.destroy();
    await departure.opened;
    while (count.value === 0) {
      await nextTurn();
      clock.advance(2_000);
    }
    await firstCall;
    expect(count.value).toBe(1);
    expect(events()).toEqual(['body_not_closed']);
  });

  it('after the answer has not aborted anything', async () => {
    let signal: AbortSignal | undefined;
    const { finish, firstCall } = counter();
    const { port } = await serve(async (_request, { clientGone }) => {
      signal = clientGone;
      return { status: 200, headers: {}, body: '{}', finish };
    });
    await call(port, { agent: new Agent({ keepAlive: false }) });
    await firstCall;
    await nextTurn();
    expect(signal?.aborted).toBe(false);
  });
});

describe('closing', () => {
  /** Advances the clock by each bound in turn, when the server waits for it. */
  async function pass(clock: { advance(byMs: number): void }, ...boundsMs: readonly number[]): Promise<void> {
    for (const boundMs of boundsMs) {
      // The server needs three turns before it stops listening; one more makes certain.
      for (let turn = 0; turn < 4; turn += 1) await nextTurn();
      clock.advance(boundMs);
    }
    await nextTurn();
  }

  it('serves what clients had sent by then, on new connections and on kept ones, and nothing that comes later', async () => {
    const { requests, gateway } = recorder();
    const { port, server } = await serve(gateway);
    const idleSocket = await connected(port);
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
    idleSocket.write(request('/first'));
    await once(idleSocket, 'data');
    const fresh = await connected(port);
    for (const socket of [idleSocket, fresh]) socket.write(request('/sent'));
    const answers = [idleSocket, fresh].map((socket) => text(socket));
    await server.close();
    for (const answer of answers) expect(await answer).toMatch(/^HTTP\/1.1 200 .*connection: close/is);
    // Another process may use this port by now.
    await call(port).catch(() => undefined);
    expect(requests.map(({ path }) => path)).toEqual(['/first', '/sent', '/sent']);
  });

  it('lets a running request end, answers it with connection: close, and does not wait for idle connections', async () => {
    const { opened, open: answerNow } = gate();
    const entry = gate();
    let servedCount = 0;
    const { port, server } = await serve(async ({ path }) => {
      servedCount += 1;
      if (path === '/slow') {
        entry.open();
        await opened;
      }
      return { status: 200, headers: {}, body: '{}' };
    });
    const idle = new Agent({ keepAlive: true });
    await call(port, { agent: idle });
    const running = call(port, { path: '/slow', agent: new Agent({ keepAlive: true }) });
    await entry.opened;
    const closed = server.close();
    answerNow();
    const answer = await running;
    expect(answer).toMatchObject({ status: 200, body: '{}' });
    expect(answer.headers.connection).toBe('close');
    await closed;
    idle.destroy();
    // Another process may use this port by now.
    await call(port).catch(() => undefined);
    expect(servedCount).toBe(2);
  });

  it('destroys, a second later, the connection of a stream that does not end when it is cut', async () => {
    const { finish, count } = counter();
    const never = gate();
    const { body } = waitingStream('data: 1\n\n', never.opened);
    const { port, server, clock } = await serve(async (_request, { clientGone }) => {
      clientGone.addEventListener('abort', () => never.open());
      return { status: 200, ...eventStream, body, finish };
    });
    const incoming = await open(port);
    incoming.on('error', () => {});
    await once(incoming, 'data');
    const closed = server.close();
    await pass(clock, 5_000, 1_000);
    await closed;
    expect(count.value).toBe(1);
  });

  it('leaves after seven seconds in all what does not even settle', async () => {
    const entry = gate();
    const { port, server, clock } = await serve(async () => ({
      status: 200,
      headers: {},
      body: '{}',
      finish: () => {
        entry.open();
        return new Promise<void>(() => {});
      },
    }));
    await call(port);
    await entry.opened;
    const closed = server.close();
    await pass(clock, 5_000, 1_000, 1_000);
    await closed;
  });
});

describe('listening', () => {
  it('on a port that is taken rejects with EADDRINUSE', async () => {
    const { port } = await serve(answering({}));
    const { dependencies } = adapterDependencies();
    await expect(createNodeServer(answering({}), dependencies).listen(port, host)).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});
