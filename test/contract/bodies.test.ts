import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, jest } from '#jest';
import { plainBodyMaxBytes } from '../../shared/foundation/constants/index.ts';
import { createMemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';

let gateway: Harness;

beforeAll(async () => {
  gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
});
afterAll(async () => {
  expect(gateway.logLines.filter((line) => line.includes('internal_error'))).toEqual([]);
  await gateway.stop();
});

describe('a bad body', () => {
  const raw = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, ...headers },
      body,
    });

  const wellFormed = JSON.stringify(hello('acme/echo'));
  const unreadable: [string, string | Uint8Array<ArrayBuffer>][] = [
    ['empty', ''],
    ['cut', wellFormed.slice(0, -1)],
    ['two objects', wellFormed + wellFormed],
    ['an array', `[${wellFormed}]`],
    ['a number beyond 2^53', '9007199254740993'],
    [
      'invalid UTF-8',
      new Uint8Array(
        Buffer.concat([Buffer.from(wellFormed.slice(0, -4)), Buffer.from([0xc3, 0x28]), Buffer.from('"}]}')]),
      ),
    ],
    ['nested arrays without end', '['.repeat(100_000)],
    ['an object a hundred thousand deep', `{"a":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_001)}`],
    ['deep messages', `{"model":"acme/echo","messages":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ];

  it.each(unreadable)('is refused without a provider call: %s', async (_name, body) => {
    gateway.simulator.clear();
    await expectError(await raw(body), 400, 'invalid_request');
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  const message = { role: 'user', content: 'Hello' };
  const nestedLists = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  /** Bodies of some hundred kilobytes that once took seconds or too much memory, or got a 500. */
  const costly: [string, object][] = [
    ['messages that are numbers', { messages: new Array(130_000).fill(1) }],
    ['as many as are allowed', { messages: new Array(99_990).fill(1) }],
    ['tools that are numbers', { messages: [message], tools: new Array(99_990).fill(1) }],
    ['stop sequences that are numbers', { messages: [message], stop: new Array(99_990).fill(1) }],
    ['providers that are numbers', { messages: [message], provider: { only: new Array(99_990).fill(1) } }],
    [
      'members of a provider',
      { messages: [message], provider: Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [at, at])) },
    ],
    ['65 levels', { messages: [message], metadata: nestedLists(64) }],
    ['100,001 values', { messages: [message], metadata: new Array(100_001 - 7).fill(0) }],
    ['257 items of a gateway member', { messages: [message], cache: { other: new Array(257).fill(0) } }],
  ];

  it.each(costly)('is refused with one short message, at little cost: %s', async (_name, members) => {
    gateway.simulator.clear();
    const body = JSON.stringify({ model: 'acme/echo', ...members });
    const { message: text } = await expectError(await raw(body), 400, 'invalid_request');
    expect(text.length).toBeLessThan(200);
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it.each([
    ['{"model": "acme/echo",\n "messages": [}', 'line 2, column 15'],
    ['{"model": "acme/echo"\n "messages": []}', 'line 2, column 2'],
    ['{"model": "acme/echo", messages: []}', 'line 1, column 24'],
    ['{"model": tru}', 'line 1, column 11'],
    ['{"model": "acme', 'line 1, column 11'],
    ['{"model": "acme/echo"', 'it ends too early'],
    ['{"model": "acme/echo"}}', 'line 1, column 23'],
    ['', 'it is empty'],
  ])('that is no JSON is refused with the place of its fault, and without its text: %s', async (body, place) => {
    gateway.simulator.clear();
    const { message: text } = await expectError(await raw(body), 400, 'invalid_request');
    expect(text).toBe(`The body is not valid JSON: ${place}.`);
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it.each([
    [{ provider: { onyl: ['acme'] } }, 'provider.onyl', 'did you mean only?'],
    [{ provider: { data_colection: 'deny' } }, 'provider.data_colection', 'did you mean data_collection?'],
    [{ provider: { colour: 'red' } }, 'provider.colour', 'is no member that the gateway knows'],
  ])('with a mistyped field of a gateway member names the one that was meant: %j', async (members, path, words) => {
    gateway.simulator.clear();
    const body = JSON.stringify({ model: 'acme/echo', messages: [message], ...members });
    const { message: text } = await expectError(await raw(body), 400, 'invalid_request');
    expect(text).toContain(path);
    expect(text).toContain(words);
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('of 100,000 values and 64 levels is taken, and sent on whole', async () => {
    const many = JSON.stringify({ model: 'acme/echo', messages: [message], metadata: new Array(100_000 - 7).fill(0) });
    const deep = JSON.stringify({ model: 'acme/echo', messages: [message], metadata: nestedLists(63) });
    for (const body of [many, deep]) {
      const response = await raw(body);
      expect(response.status).toBe(200);
      await response.text();
      expect(gateway.simulator.calls.at(-1)?.body).toMatchObject({ metadata: JSON.parse(body).metadata });
    }
  });

  const names = (count: number) => Array.from({ length: count }, (_, index) => `"k${index.toString(36)}":1`).join(',');
  const greeting = '"model":"acme/echo","messages":[{"role":"user","content":"Hello"}]';
  const large: [string, string][] = [
    ['95,000 members of its own', `{${greeting},${names(95_000)}}`],
    [
      '95,000 members in a message',
      `{"model":"acme/echo","messages":[{"role":"user","content":"Hello",${names(95_000)}}]}`,
    ],
    ['95,000 members in another member', `{${greeting},"metadata":{${names(95_000)}}}`],
    ['95,000 numbers beyond 2^53', `{${greeting},"metadata":[${new Array(95_000).fill('1e99')}]}`],
  ];

  it.each(large)('is read no further than the gateway needs, and sent on as it came: %s', async (_name, body) => {
    gateway.simulator.clear();
    const [parse, stringify] = [jest.spyOn(JSON, 'parse'), jest.spyOn(JSON, 'stringify')];
    let handled = 0;
    try {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const response = await raw(body, headers);
      expect(response.status).toBe(200);
      // The answer repeats nothing of the body, so each text that was parsed or written is one that the gateway itself
      // needs.
      const texts = [...parse.mock.calls.map(([text]) => text), ...stringify.mock.results.map(({ value }) => value)];
      handled = texts.filter((text) => String(text).includes('"kz') || String(text).includes('1e99,1e99')).length;
      await response.text();
    } finally {
      parse.mockRestore();
      stringify.mockRestore();
    }
    // The simulator, which is a provider in the same process, parses it once.
    expect(handled).toBeLessThanOrEqual(1);
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('is not even parsed if its key is unknown, and not received if it has none', async () => {
    const parse = jest.spyOn(JSON, 'parse');
    const markedText = JSON.stringify(hello('acme/echo', { mark: 'of this very body' }));
    const parsed = () => parse.mock.calls.filter(([text]) => String(text).includes('of this very body')).length;
    try {
      await expectError(await raw(markedText, { authorization: `Bearer ${newKey()}` }), 401, 'UNAUTHORIZED');
      await expectError(await raw(markedText, { authorization: 'Bearer nothing' }), 401, 'UNAUTHORIZED');
      expect(parsed()).toBe(0);
      expect((await raw(markedText)).status).toBe(200);
      expect(parsed()).toBeGreaterThan(0);
    } finally {
      parse.mockRestore();
    }
  });

  it('that never ends takes nothing from other callers, however many self-made keys send one', async () => {
    const { hostname, port } = new URL(gateway.url);
    const largest = Buffer.alloc(plainBodyMaxBytes - 1, ' ');
    const exchanges = Array.from({ length: 16 }, async () => {
      const socket = connect(Number(port), hostname).on('error', () => {});
      const head = ['POST /v1/chat/completions HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${newKey()}`];
      socket.write([...head, `Content-Length: ${plainBodyMaxBytes}`, '', ''].join('\r\n'));
      // The gateway looks a key up as soon as it has the headers, so the answer waits for no byte of the body.
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.write(largest);
      return { socket, status: answer.toString().slice(9, 12) };
    });
    const answers = await Promise.all(exchanges);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['401']));
    expect((await raw(wellFormed + ' '.repeat(plainBodyMaxBytes - wellFormed.length))).status).toBe(200);
    for (const { socket } of answers) socket.destroy();
  });

  it('of the largest size is served from the first calls of a process on, as many at once as take turns in its memory', async () => {
    // No wait ends by the clock of a busy machine.
    const memory = createMemoryBudget(manualClock());
    const fresh = await gateway.open({ replace: () => ({ memory }) });
    const largest = wellFormed + ' '.repeat(plainBodyMaxBytes - wellFormed.length);
    const answers = await Promise.all(Array.from({ length: 12 }, () => fresh.post(largest)));
    expect(answers.map(({ status }) => status)).toEqual(new Array(12).fill(200));
    await Promise.all(answers.map((answer) => answer.text()));
  });

  it('is not even asked for if the key is malformed', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    const head = ['POST /v1/chat/completions HTTP/1.1', 'Host: localhost', 'Authorization: Bearer nothing'];
    socket.write([...head, 'Content-Length: 4000000', 'Expect: 100-continue', '', ''].join('\r\n'));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('counts against the requests of its key, however bad it is', async () => {
    const limitedHarness = await startHarness({
      models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
      key: { rpm: 2 },
    });
    const bad = JSON.stringify({ messages: new Array(99_990).fill(1) });
    await expectError(await limitedHarness.post(bad), 400, 'invalid_request');
    await expectError(await limitedHarness.post('{'), 400, 'invalid_request');
    await expectError(await limitedHarness.post(bad), 429, 'api_key_rate_limit');
    await limitedHarness.stop();
  });

  it('of one byte over 4 MiB is refused with a key, and unauthorised without one', async () => {
    gateway.simulator.clear();
    const padding = (bytes: number) => wellFormed + ' '.repeat(bytes - wellFormed.length);
    await expectError(await raw(padding(plainBodyMaxBytes + 1)), 413, 'request_too_large');
    await expectError(await raw(padding(plainBodyMaxBytes + 1), { authorization: '' }), 401, 'UNAUTHORIZED');
    expect(gateway.simulator.calls).toHaveLength(0);
    const atTheLimit = await raw(padding(plainBodyMaxBytes));
    expect(atTheLimit.status).toBe(200);
    await atTheLimit.text();
  });

  it('in a content coding that was not announced is refused, not guessed at', async () => {
    const zipped = new Uint8Array(Buffer.from('1f8b0800000000000003ab562a4bcc29cd550200', 'hex'));
    await expectError(await raw(zipped, { 'content-encoding': 'gzip' }), 400, 'invalid_request');
  });
});

describe('a good body', () => {
  it.each(['text/plain', 'application/json; charset=utf-8', 'application/x-www-form-urlencoded'])(
    'is read as JSON whatever its declared type: %s',
    async (type) => {
      const response = await gateway.post(hello('acme/echo'), { 'content-type': type });
      expect(response.status).toBe(200);
      await response.text();
    },
  );
});

describe('an encoded body', () => {
  const body = JSON.stringify({ ...hello('acme/echo'), user: 'é'.repeat(1_000) });
  const encodings: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    gzip: gzipSync,
    deflate: deflateSync,
    'DEFLATE ': deflateRawSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
    identity: (bytes) => bytes,
  };
  const send = (bytes: Buffer, encoding: string) =>
    fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-encoding': encoding },
      body: new Uint8Array(bytes),
    });

  it.each(Object.entries(encodings))('in %j is served as the plain one, and goes on plain', async (encoding, pack) => {
    gateway.simulator.clear();
    expect((await send(pack(Buffer.from(body)), encoding)).status).toBe(200);
    const [call] = gateway.simulator.calls;
    expect(call?.body).toMatchObject({ user: 'é'.repeat(1_000) });
    expect(call?.headers['content-encoding']).toBe(undefined);
  });

  it.each(Object.entries(encodings))(
    'in %j that is longer plain than any may be is too large',
    async (encoding, pack) => {
      const long = Buffer.from(`${body.slice(0, -1)},"a":"${'a'.repeat(plainBodyMaxBytes)}"}`);
      await expectError(await send(pack(long), encoding), 413, 'request_too_large');
    },
  );

  it.each(['gzip', 'deflate', 'br', 'zstd'])(
    'that is no %s is refused, and so is one that is cut',
    async (encoding) => {
      const packed = encodings[encoding]?.(Buffer.from(body));
      for (const bytes of [Buffer.from(body), packed?.subarray(0, -20) ?? Buffer.alloc(0)]) {
        const { message } = await expectError(await send(bytes, encoding), 400, 'invalid_request');
        expect(message).toContain('content-encoding');
      }
    },
  );

  it.each(['compress', 'gzip, br', '__proto__'])('in %j is refused by the name of the header', async (encoding) => {
    gateway.simulator.clear();
    const { message } = await expectError(await send(Buffer.from(body), encoding), 400, 'invalid_request');
    expect(message).toMatch(/content-encoding must be one of gzip, deflate, br, zstd/);
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('and a plain one may begin with a byte-order mark', async () => {
    const markedBytes = Buffer.from(`\ufeff${body}`);
    expect((await send(markedBytes, 'identity')).status).toBe(200);
    expect((await send(gzipSync(markedBytes), 'gzip')).status).toBe(200);
    await expectError(await send(Buffer.from(`\ufeff\ufeff${body}`), 'identity'), 400, 'invalid_request');
  });
});
