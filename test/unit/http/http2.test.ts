// HTTP/2 over real sockets on 127.0.0.1, with small gateways.
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, get } from 'node:https';
import { text } from 'node:stream/consumers';
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { afterEach, describe, expect, it } from '#jest';
import type { GatewayError } from '../../../shared/errors/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import {
  createNodeServer,
  type Gateway,
  type GatewayRequest,
  type NodeServer,
} from '../../../shared/protocol/http/index.ts';
import { testCertificate } from '../../support/forward-proxy.ts';
import { call, connected, exchangeBytes } from '../../support/raw-http.ts';
import {
  answerOf,
  callOn,
  calmCode,
  frame,
  frameFlags,
  frameTypes,
  getFrame,
  opening,
  openSession,
  openStream,
  packedHead,
  postFrame,
  preface,
  rawSession,
  resetFrame,
  settingsFrame,
} from '../../support/raw-http2.ts';
import { adapterDependencies, answering, eventStream, gate } from './fixtures.ts';

const host = '127.0.0.1';
const servers: NodeServer[] = [];
const sessions: ClientHttp2Session[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(gateway: Gateway, options: Parameters<typeof createNodeServer>[2] = {}) {
  const adapter = adapterDependencies();
  const server = createNodeServer(gateway, adapter.dependencies, options);
  servers.push(server);
  const port = await server.listen(0, host);
  const open = () => {
    const session = openSession(port);
    sessions.push(session);
    return session;
  };
  return { ...adapter, server, port, open };
}

/** Answers after the client has left. */
const untilGone: Gateway = async (_request, { clientGone }) => {
  await new Promise((resolve) => clientGone.addEventListener('abort', resolve));
  return { status: 200, headers: {}, body: '{}' };
};

const refusal = ({ entry: { status }, message }: GatewayError) => ({ status, headers: {}, body: message });

/** Returns a gateway that reads the body of every request. */
function recorder() {
  const requests: GatewayRequest[] = [];
  const gateway: Gateway = async (request, { refusal: refusalError }) => {
    if (refusalError !== undefined) return refusal(refusalError);
    requests.push(request);
    try {
      return { status: 200, headers: {}, body: String(await request.readBody()) };
    } catch (error) {
      return refusal(error as GatewayError);
    }
  };
  return { requests, gateway };
}

/** Advances the clock by steps, one step a turn, until the condition holds. */
async function advanceUntil(clock: { advance(byMs: number): void }, stepMs: number, isSo: () => boolean) {
  while (!isSo()) {
    await nextTurn();
    clock.advance(stepMs);
  }
}

describe('a client of HTTP/2', () => {
  it('is served on the port of HTTP/1.1, as a client of that is', async () => {
    const { requests, gateway } = recorder();
    const { port, open } = await serve(gateway);
    const session = open();
    const headers = { ':method': 'POST', ':path': '//a/?b=1', cookie: ['c=1', 'd=2'], 'x-e': ['3', '4'] };
    const sentHeaders = { ...headers, 'content-length': 5 };
    expect(await callOn(session, sentHeaders, 'hello')).toMatchObject({ status: 200, body: 'hello' });
    const [first] = requests;
    expect(first).toMatchObject({ method: 'POST', path: '/a', query: 'b=1', declaredBodyBytes: 5 });
    expect(first?.headers).toMatchObject({ host: [`${host}:${port}`], cookie: ['c=1; d=2'], 'x-e': ['3', '4'] });
    expect(Object.keys(first?.headers ?? {}).filter((name) => name.startsWith(':'))).toEqual([]);
    const older = await call(port, { method: 'POST', body: 'older' });
    expect([older.status, older.body]).toEqual([200, 'older']);
    expect(await callOn(session, {}, 'on')).toMatchObject({ body: 'on' });
  });

  it('whose first bytes come one by one is one; one that begins alike and goes on otherwise speaks HTTP/1.1', async () => {
    const { port } = await serve(recorder().gateway);
    const slow = await rawSession(port, '');
    for (const byte of Buffer.concat([opening, getFrame(1)])) {
      slow.socket.write(Buffer.of(byte));
      await nextTurn();
    }
    expect((await slow.until(frameTypes.headers)).streamId).toBe(1);
    slow.socket.destroy();
    const other = await connected(port);
    other.write('P');
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    other.write('OST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    expect(await text(other)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchangeBytes(port, 'PRI * HTTP/2.0\r\n\r\nXY\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('sends a hundred requests at once, which are served side by side and few in a turn', async () => {
    const answers = gate();
    let begunCount = 0;
    const { port } = await serve(async () => {
      begunCount += 1;
      await answers.opened;
      return { status: 200, headers: {}, body: '{}' };
    });
    const session = await rawSession(port);
    await session.until(frameTypes.settings);
    session.send(...Array.from({ length: 100 }, (_, at) => getFrame(2 * at + 1)));
    const perTurn: number[] = [];
    while (begunCount < 100) {
      const before = begunCount;
      await nextTurn();
      perTurn.push(begunCount - before);
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(40);
    // The next stream is refused before it is served, so the client may send it again.
    session.send(getFrame(201));
    expect((await session.until(frameTypes.reset, 201)).content.readUInt32BE()).toBe(7);
    answers.open();
    await session.until(frameTypes.data, 199);
    expect(begunCount).toBe(100);
    session.socket.destroy();
  });

  it('names a host like one of HTTP/1.1: a listener on a loopback address refuses every other, also beside it', async () => {
    const { requests, gateway } = recorder();
    const { open } = await serve(gateway);
    const session = open();
    for (const headers of [
      { ':authority': 'attacker.example' },
      { ':authority': 'localhost', host: 'attacker.example' },
    ]) {
      expect((await callOn(session, headers)).body).toMatch(/^The Host header must name a loopback address/);
    }
    expect(requests).toHaveLength(0);
    expect((await callOn(session, { ':authority': 'localhost:1' })).status).toBe(200);
  });

  it('is asked for a body that it announces only if that is read', async () => {
    const { gateway } = recorder();
    const { open } = await serve(gateway);
    const stream = open().request({ ':method': 'POST', ':path': '/', expect: '100-continue' }, { endStream: false });
    await once(stream, 'continue');
    stream.end('abc');
    expect(await answerOf(stream)).toMatchObject({ status: 200, body: 'abc' });
    const refusing = await serve(answering({ status: 401, body: '{}' }));
    const unread = refusing
      .open()
      .request({ ':method': 'POST', ':path': '/', expect: '100-continue' }, { endStream: false });
    let isAsked = false;
    unread.on('continue', () => (isAsked = true));
    expect(await answerOf(unread)).toMatchObject({ status: 401 });
    expect(isAsked).toBe(false);
  });
});

it("a server serves AWS's SDK without changes, which speaks HTTP/2 in clear", async () => {
  const { requests, gateway } = recorder();
  const { port } = await serve(async (request, context) => {
    const { status } = await gateway(request, context);
    const message = { role: 'assistant', content: [{ text: 'hello' }] };
    const answer = { output: { message }, stopReason: 'end_turn', usage: {}, metrics: { latencyMs: 1 } };
    return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) };
  });
  const client = new BedrockRuntimeClient({
    ...{ region: 'us-east-1', endpoint: `http://${host}:${port}/bedrock`, token: { token: 'sk-gw-1' } },
    authSchemePreference: ['httpBearerAuth'],
  });
  const ask = new ConverseCommand({ modelId: 'm', messages: [{ role: 'user', content: [{ text: 'hi' }] }] });
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.send(ask)));
  client.destroy();
  for (const { output } of answers) expect(output?.message?.content).toEqual([{ text: 'hello' }]);
  expect(new Set(requests.map(({ method, path }) => `${method} ${path}`))).toEqual(
    new Set(['POST /bedrock/model/m/converse']),
  );
  expect(requests[0]?.headers.authorization).toEqual(['Bearer sk-gw-1']);
});

describe('a server with a certificate', () => {
  const { cert: ca } = testCertificate;
  const askOld = async (port: number, agent?: Agent) => {
    const [answer] = await once(get({ host, port, ca, agent: agent ?? new Agent() }), 'response');
    return text(answer);
  };

  it('speaks TLS: HTTP/2 with those that offer it, HTTP/1.1 with others, nothing in clear', async () => {
    const { requests, gateway } = recorder();
    const { port } = await serve(gateway, { tls: testCertificate });
    const session = connect(`https://localhost:${port}`, { ca });
    sessions.push(session);
    expect(await callOn(session, { ':method': 'POST' }, 'hello')).toMatchObject({ status: 200, body: 'hello' });
    expect([session.encrypted, session.alpnProtocol]).toEqual([true, 'h2']);
    expect(await askOld(port)).toBe('');
    expect(requests).toHaveLength(2);
    const plain = await exchangeBytes(port, 'GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n');
    expect(plain).toMatch(/^HTTP\/1\.1 400 /);
    expect(plain).toContain('its URL begins with https://');
    const raw = await rawSession(port);
    while (!raw.socket.closed) await nextTurn();
    expect([requests.length, raw.frames]).toEqual([2, []]);
    expect(await askOld(port)).toBe('');
  });

  it('counts connections from their first byte: handshakes that do not end are closed for later ones', async () => {
    const { port } = await serve(answering({ body: '{}' }), { tls: testCertificate });
    const silent = [];
    for (let index = 0; index < 1_000; index += 1) silent.push(await connected(port));
    expect(await askOld(port)).toBe('{}');
    while (silent[0]?.closed !== true) await nextTurn();
    expect(silent.filter(({ closed }) => closed).length).toBeLessThan(5);
    for (const socket of silent) socket.destroy();
  });

  it('that closes lets running requests end, of both protocols', async () => {
    const { opened, open: answerNow } = gate();
    let enteredCount = 0;
    const { port, server } = await serve(
      async () => {
        enteredCount += 1;
        await opened;
        return { status: 200, headers: {}, body: 'x'.repeat(100_000) };
      },
      { tls: testCertificate },
    );
    const session = connect(`https://localhost:${port}`, { ca });
    sessions.push(session);
    const running = [callOn(session).then(({ body }) => body), askOld(port, new Agent({ keepAlive: true }))];
    while (enteredCount < 2) await nextTurn();
    const closed = server.close();
    answerNow();
    expect((await Promise.all(running)).map((body) => body.length)).toEqual([100_000, 100_000]);
    await closed;
  });
});

describe('an answer over HTTP/2', () => {
  it('of text has its length in bytes; to HEAD it has no body', async () => {
    const { open } = await serve(answering({ headers: { a: 'b' }, body: '{"é":"😀"}' }));
    const session = open();
    const whole = await callOn(session);
    expect(whole).toMatchObject({ status: 200, body: '{"é":"😀"}', headers: { a: 'b', 'content-length': '13' } });
    expect(await callOn(session, { ':method': 'HEAD' })).toMatchObject({
      body: '',
      headers: { 'content-length': '13' },
    });
  });

  it('that streams sends its headers before its first chunk exists', async () => {
    const { opened, open: yieldFirst } = gate();
    async function* body() {
      await opened;
      yield 'data: [DONE]\n\n';
    }
    const { open } = await serve(answering({ ...eventStream, body: body() }));
    const stream = openStream(open(), {});
    const [headers] = await once(stream, 'response');
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    yieldFirst();
    expect(await text(stream)).toBe('data: [DONE]\n\n');
  });

  it('with a header that cannot be written is an internal_error envelope', async () => {
    const { open } = await serve(answering({ headers: { a: 'one\r\ntwo: three' }, body: '{}' }));
    const answer = await callOn(open());
    expect([answer.status, answer.headers.two]).toEqual([500, undefined]);
    expect(JSON.parse(answer.body).error).toBe('internal_error');
  });

  it('is made no faster than its client reads it, while others of its connection go on', async () => {
    const chunk = 'x'.repeat(64 * 1024);
    let chunkCount = 0;
    async function* body() {
      for (; chunkCount < 256; chunkCount += 1) yield chunk;
    }
    const { open } = await serve(async ({ path }) =>
      path === '/large'
        ? answering({ ...eventStream, body: body() })({} as never, {} as never)
        : { status: 200, headers: {}, body: '{}' },
    );
    const session = open();
    const large = openStream(session, { ':path': '/large' });
    await once(large, 'response');
    for (let calls = 0; calls < 20; calls += 1) expect((await callOn(session)).status).toBe(200);
    expect(chunkCount).toBeLessThan(8);
    expect((await text(large)).length).toBe(256 * chunk.length);
  });

  it('that breaks shows that it did', async () => {
    const { open } = await serve(async () => ({
      status: 200,
      headers: { 'content-type': 'audio/pcm' },
      body: (async function* () {
        yield { text: 'abc', isEnd: false };
        yield { text: '', isEnd: false, isCut: true as const };
      })(),
    }));
    const stream = openStream(open(), {});
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    expect(stream.rstCode).toBe(2);
  });
});

describe('a body over HTTP/2', () => {
  it('that is too large is refused without being sent whole, and its connection serves the next request', async () => {
    const { open } = await serve(recorder().gateway);
    const session = open();
    const large = await callOn(session, { ':method': 'POST' }, Buffer.alloc(6 * 1024 * 1024));
    expect(large.status).toBe(413);
    expect(await callOn(session, { ':method': 'POST' }, 'small')).toMatchObject({ status: 200, body: 'small' });
  });

  it('of which a reset leaves a part is never taken for a whole one', async () => {
    const read: string[] = [];
    const ended = gate();
    const { port } = await serve(async ({ readBody }) => {
      try {
        read.push(String(await readBody()));
      } catch (error) {
        read.push((error as GatewayError).code);
      }
      ended.open();
      return { status: 200, headers: {}, body: '{}' };
    });
    const session = await rawSession(port, Buffer.concat([opening, postFrame(1)]));
    session.send(frame(frameTypes.data, frameFlags.none, 1, Buffer.from('{"half":1}')));
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    session.send(resetFrame(1));
    await ended.opened;
    expect(read).toEqual(['invalid_request']);
    session.socket.destroy();
  });

  it('that takes longer than 30 seconds is refused; others of its connection are served', async () => {
    const { gateway } = recorder();
    const { open, clock } = await serve(gateway);
    const session = open();
    const slow = session.request({ ':method': 'POST', ':path': '/' }, { endStream: false });
    slow.write('a');
    const answer = answerOf(slow);
    expect((await callOn(session, {}, 'quick')).body).toBe('quick');
    clock.advance(29_999);
    expect((await callOn(session, {}, 'quick')).body).toBe('quick');
    clock.advance(1);
    expect(await answer).toMatchObject({ status: 400, body: expect.stringMatching(/too slow/) });
    expect((await callOn(session, {}, 'quick')).body).toBe('quick');
  });
});

describe('a client that leaves a stream', () => {
  it.each([
    ['with an error', 8],
    ['without one', 0],
  ])('%s has hung up: its call is finished once, and no other', async (_how, code) => {
    const goneStreams: string[] = [];
    const finished: string[] = [];
    const { port, clock } = await serve(async ({ headers }, { clientGone }) => {
      const name = headers['x-name']?.[0] ?? 'raw';
      clientGone.addEventListener('abort', () => goneStreams.push(name));
      async function* body() {
        yield { text: 'data: 1\n\n', isEnd: false };
        await new Promise(() => {});
      }
      return { status: 200, ...eventStream, body: body(), finish: async () => void finished.push(name) };
    });
    const session = await rawSession(port, Buffer.concat([opening, getFrame(1), getFrame(3)]));
    await session.until(frameTypes.data, 3);
    session.send(resetFrame(1, code));
    await advanceUntil(clock, 100, () => finished.length > 0);
    expect([goneStreams, finished]).toEqual([['raw'], ['raw']]);
    session.socket.destroy();
    await advanceUntil(clock, 100, () => finished.length > 1);
    expect(goneStreams).toHaveLength(2);
  });

  it('behind its answer has left nothing', async () => {
    let signal: AbortSignal | undefined;
    const { port } = await serve(async (_request, { clientGone }) => {
      signal = clientGone;
      return { status: 200, headers: {}, body: '{}' };
    });
    const session = await rawSession(port, Buffer.concat([opening, getFrame(1)]));
    await session.until(frameTypes.data, 1);
    session.send(resetFrame(1), getFrame(3));
    await session.until(frameTypes.data, 3);
    expect(signal?.aborted).toBe(false);
    session.socket.destroy();
  });

  it('that it has just opened is not served; after some hundred of them its connection ends', async () => {
    let begunCount = 0;
    const { port, events } = await serve(async () => {
      begunCount += 1;
      return { status: 200, headers: {}, body: '{}' };
    });
    const session = await rawSession(port);
    const streams = Array.from({ length: 10_000 }, (_, at) =>
      Buffer.concat([getFrame(2 * at + 1), resetFrame(2 * at + 1)]),
    );
    session.send(...streams);
    expect(await session.goawayCode()).toBe(calmCode);
    // A head may be the last part of a read.
    expect(begunCount).toBeLessThan(20);
    expect(events()).toEqual(['connection_closed']);
    expect((await call(port)).status).toBe(200);
  });

  it('that is being served costs what a call costs, and no more of them than its connection may leave', async () => {
    let begunCount = 0;
    const { port, lines, clock } = await serve(async (_request, { clientGone }) => {
      begunCount += 1;
      await new Promise((resolve) => clientGone.addEventListener('abort', resolve));
      return { status: 200, headers: {}, body: '{}' };
    });
    const session = await rawSession(port);
    for (let at = 0; at < 10_000 && lines.length === 0; at += 1) {
      const before = begunCount;
      session.send(getFrame(2 * at + 1));
      while (begunCount === before && lines.length === 0) await nextTurn();
      session.send(resetFrame(2 * at + 1));
    }
    expect(await session.goawayCode()).toBe(calmCode);
    clock.advance(1_000);
    while (!session.socket.closed) await nextTurn();
    expect(begunCount).toBeLessThanOrEqual(510);
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual(['streams_left']);
  });
});

describe('a connection of HTTP/2', () => {
  it('has ten seconds to end a head that it began, and nothing of it is served', async () => {
    const { requests, gateway } = recorder();
    const { port, clock, lines } = await serve(gateway);
    const session = await rawSession(port);
    await session.until(frameTypes.settings);
    session.send(frame(frameTypes.headers, frameFlags.endStream, 1, packedHead('GET')));
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    clock.advance(9_999);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(session.socket.closed).toBe(false);
    clock.advance(1);
    expect(await session.goawayCode()).toBe(calmCode);
    expect(requests).toHaveLength(0);
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual(['head_time']);
  });

  it('refuses a head of more than 16 KiB alone, and ends with one of more than 64', async () => {
    const { requests, gateway } = recorder();
    const { port, open, lines } = await serve(gateway);
    const session = open();
    const long = await callOn(session, { a: 'x'.repeat(16 * 1024) });
    expect([long.status, long.body]).toEqual([400, 'The HTTP request is malformed, too large or too slow.']);
    expect(requests).toHaveLength(0);
    expect((await callOn(session, {}, 'next')).body).toBe('next');
    const flood = await rawSession(port);
    const content = Buffer.alloc(16 * 1024);
    flood.send(frame(frameTypes.headers, frameFlags.none, 1, packedHead('GET')));
    for (let frameIndex = 0; frameIndex < 5; frameIndex += 1)
      flood.send(frame(frameTypes.continuation, frameFlags.none, 1, content));
    expect(await flood.goawayCode()).toBe(calmCode);
    const empty = await rawSession(port);
    empty.send(frame(frameTypes.headers, frameFlags.none, 1, packedHead('GET')));
    empty.send(...Array.from({ length: 10_000 }, () => frame(frameTypes.continuation, frameFlags.none, 1)));
    expect(await empty.goawayCode()).toBe(calmCode);
    expect(requests).toHaveLength(1);
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual(['head_bytes', 'head_bytes']);
  });

  it.each([
    ['pings', frame(frameTypes.ping, frameFlags.none, 0, Buffer.alloc(8))],
    ['settings', settingsFrame],
    ['priorities', frame(frameTypes.priority, frameFlags.none, 1, Buffer.from([0, 0, 0, 0, 1]))],
    ['frames of no known type', frame(0x77, frameFlags.none, 0)],
  ])('ends with the thousandth of %s, whether or not it reads what they bring', async (_what, flood) => {
    const { port, lines, clock } = await serve(untilGone);
    const session = await rawSession(port, Buffer.concat([opening, postFrame(1)]));
    session.send(...Array.from({ length: 900 }, () => flood));
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(session.socket.closed).toBe(false);
    session.send(...Array.from({ length: 200 }, () => flood));
    expect(await session.goawayCode()).toBe(calmCode);
    const deaf = await connected(port);
    deaf.pause().write(Buffer.concat([opening, postFrame(1), ...Array.from({ length: 1_100 }, () => flood)]));
    while (lines.length < 2) await nextTurn();
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual(['control_frames', 'control_frames']);
    clock.advance(1_000);
    deaf.destroy();
  });

  it('ends with a frame that is longer than one may be', async () => {
    const { port } = await serve(answering({}));
    const session = await rawSession(port);
    session.send(frame(frameTypes.ping, frameFlags.none, 0, Buffer.alloc(16 * 1024 + 1)));
    expect(await session.goawayCode()).toBe(calmCode);
  });

  it('without a request ends after 65 seconds, one with a request does not', async () => {
    const answers = gate();
    const { open, clock } = await serve(async () => {
      await answers.opened;
      return { status: 200, headers: {}, body: '{}' };
    });
    const [busy, idle] = [open(), open()];
    const answer = callOn(busy);
    await Promise.all([busy, idle].map((session) => once(session, 'remoteSettings')));
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    const [closed, goaway] = [once(idle, 'close'), once(idle, 'goaway')];
    clock.advance(65_000);
    await closed;
    expect((await goaway)[0]).toBe(0);
    answers.open();
    expect((await answer).status).toBe(200);
  });

  it('whose client ends its side has been left, which the end of a request is not', async () => {
    const goneStreams: string[] = [];
    const beginning = gate();
    const { port } = await serve(async (_request, { clientGone }) => {
      clientGone.addEventListener('abort', () => goneStreams.push('gone'));
      beginning.open();
      await new Promise((resolve) => clientGone.addEventListener('abort', resolve));
      return { status: 200, headers: {}, body: '{}' };
    });
    const session = await rawSession(port, Buffer.concat([opening, getFrame(1)]));
    await beginning.opened;
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(goneStreams).toEqual([]);
    session.socket.end();
    await once(session.socket, 'close');
    expect(goneStreams).toEqual(['gone']);
  });
});

describe('closing, with clients of HTTP/2', () => {
  it('lets running requests end, takes no others, and does not wait for idle connections', async () => {
    const { opened, open: answerNow } = gate();
    const entry = gate();
    let servedCount = 0;
    const { open, server } = await serve(async () => {
      servedCount += 1;
      entry.open();
      await opened;
      return { status: 200, headers: {}, body: 'x'.repeat(300_000) };
    });
    const [busy, idle] = [open(), open()];
    await once(idle, 'remoteSettings');
    const running = callOn(busy);
    await entry.opened;
    const goaway = once(busy, 'goaway');
    const closed = server.close();
    await goaway;
    await expect(callOn(busy)).rejects.toThrow();
    answerNow();
    expect((await running).body.length).toBe(300_000);
    await closed;
    expect(servedCount).toBe(1);
  });

  it('cuts those that do not end', async () => {
    const finished: string[] = [];
    const { open, server, clock } = await serve(async (_request, { clientGone }) => ({
      status: 200,
      ...eventStream,
      body: (async function* () {
        yield { text: 'data: 1\n\n', isEnd: false };
        await new Promise((resolve) => clientGone.addEventListener('abort', resolve));
      })(),
      finish: async () => void finished.push('once'),
    }));
    const stream = openStream(open(), {});
    await once(stream, 'data');
    let isClosed = false;
    const closed = server.close().then(() => (isClosed = true));
    await advanceUntil(clock, 500, () => isClosed);
    await closed;
    expect(finished).toEqual(['once']);
  });
});

it('what HTTP/2 begins with, and no more, is no request', async () => {
  const { requests, gateway } = recorder();
  const { port, server } = await serve(gateway);
  const [part, whole] = [await rawSession(port, preface.slice(0, 20)), await rawSession(port, preface)];
  await whole.until(frameTypes.settings);
  expect(requests).toHaveLength(0);
  await server.close();
  expect(await whole.goawayCode()).toBe(0);
  for (const { socket } of [part, whole]) while (!socket.closed) await nextTurn();
  expect(part.frames).toEqual([]);
});
