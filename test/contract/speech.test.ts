// Speech: bytes that are relayed as they come, and events; reserved and charged by characters.
import type { ServerResponse } from 'node:http';
import { createOpenAI } from '@ai-sdk/openai';
import { generateSpeech } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectRefusedUnpaid } from '../support/expect-refused-unpaid.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines, type Harness, startHarness } from '../support/harness.ts';
import { fieldsNamed, literalsOf } from '../support/installed-types.ts';
import { countOutcomes } from '../support/outcomes.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

const input = 'Hello, how are you?';
const capped = newKey();
let gateway: Harness;
let provider: ScriptedProvider;
/** The scripted provider's answer. */
let answer: (outgoing: ServerResponse) => void;

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => answer(outgoing));
  const free = { input_price_per_million: '0', output_price_per_million: '0', max_output_tokens: 4_000 };
  const more = { ...free, input_price_per_character: '0.000015', supported_params: {} };
  const byToken = { ...free, input_price_per_million: '1', output_price_per_million: '2', supported_params: {} };
  const acme = (upstream: string) => [{ provider: 'acme', upstream, more }];
  gateway = await startHarness({
    speaks: { api: 'speech', path: '/audio/speech' },
    models: {
      tts: acme('echo'),
      'tts-cut': acme('cut:2'),
      'tts-slow': acme('slow-chunks:5'),
      'tts-reported': acme('usage:7:90'),
      'tts-tokens': [
        { provider: 'acme', upstream: 'echo', more: { ...byToken, audio_output_price_per_million: '12' } },
      ],
      'tts-tokens-reported': [
        { provider: 'acme', upstream: 'usage:7:90', more: { ...byToken, audio_output_price_per_million: '12' } },
      ],
      'tts-fails': [...acme('error-500'), { provider: 'globex', upstream: 'echo', more }],
      'tts-scripted-tokens': [
        { provider: 'scripted', upstream: 'any', more: { ...byToken, audio_output_price_per_million: '12' } },
      ],
      'tts-scripted': [{ provider: 'scripted', upstream: 'any', more }],
    },
    providers: { scripted: { base_url: provider.url } },
    moreWorkspaces: [
      {
        id: 'capped',
        credit_usd: '100',
        keys: [{ name: 'three', key: capped, spend_limit_usd: String((input.length * 15 * 3) / 1e6) }],
      },
    ],
  });
});
beforeEach(() => gateway.simulator.clear());
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

const post = (body: Json = {}, headers: Record<string, string> = {}) =>
  gateway.post({ model: 'tts', input, voice: 'alloy', ...body }, headers);
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const direct = async (more: Json = {}) =>
  bytesOf(
    await fetch(`${gateway.simulator.urlOf('acme')}/audio/speech`, {
      method: 'POST',
      body: JSON.stringify({ model: 'echo', input, voice: 'alloy', ...more }),
    }),
  );
const perCharacter = 15_000_000n;

describe('speech as bytes', () => {
  it('is what the provider sent, byte for byte, of its type', async () => {
    for (const [format, type] of [
      ['wav', 'audio/wav'],
      ['pcm', 'audio/pcm'],
    ]) {
      const response = await post({ response_format: format });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      const bytes = await bytesOf(response);
      expect(bytes.length).toBeGreaterThan(2_000);
      expect(bytes.equals(await direct({ response_format: format }))).toBe(true);
    }
  });

  it('is any bytes, also those of blanks, braces and half characters', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{ "error": [  \r\n\u00a0'),
      Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256)),
      Buffer.alloc(5_000, 0x20),
    ]);
    answer = (outgoing) => void outgoing.writeHead(200, { 'content-type': 'audio/pcm' }).end(bytes);
    const response = await post({ model: 'tts-scripted', response_format: 'pcm' });
    expect((await bytesOf(response)).equals(bytes)).toBe(true);
  });

  it('is no error that comes as JSON under a type of sound, with 200: raw samples alone may begin so', async () => {
    const text = JSON.stringify({ error: { message: 'The voice is not loaded', type: 'server_error' } });
    for (const [type, body] of [
      ['audio/mpeg', text],
      ['audio/wav', ` ${text}`],
      ['audio/mpeg', '[]'],
    ] as const) {
      answer = (outgoing) => void outgoing.writeHead(200, { 'content-type': type }).end(body);
      for (const format of [{}, { stream_format: 'sse' }]) {
        const response = await post({ model: 'tts-scripted', ...format });
        expect([response.status, await response.text()]).toEqual([502, expect.not.stringContaining('voice')]);
      }
    }
    answer = (outgoing) => void outgoing.writeHead(200, { 'content-type': 'audio/pcm' }).end(text);
    const samples = await post({ model: 'tts-scripted', response_format: 'pcm' });
    expect([samples.status, await samples.text()]).toEqual([200, text]);
  });

  it('has the type that was asked for if the provider names none, and is no answer of another type', async () => {
    answer = (outgoing) => void outgoing.writeHead(200, { 'content-type': 'application/octet-stream' }).end('abc');
    expect((await post({ model: 'tts-scripted', response_format: 'opus' })).headers.get('content-type')).toBe(
      'audio/ogg',
    );
    answer = (outgoing) => void outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    expect((await post({ model: 'tts-scripted' })).status).toBe(502);
    await gateway.settled();
    await expectBalancedBooks(gateway);
  });

  it('is decoded if events came in place of bytes, and billed as they report', async () => {
    const pieces = [Buffer.from([0xff, 0xfb, 1, 2]), Buffer.from('ID3')];
    const events = [
      ...pieces.map((piece) => ({ type: 'speech.audio.delta', audio: piece.toString('base64') })),
      { type: 'speech.audio.done', usage: { input_tokens: 7, output_tokens: 90, total_tokens: 97 } },
    ];
    answer = (outgoing) =>
      void outgoing
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    const before = provider.bodies.length;
    const response = await post({ model: 'tts-scripted-tokens' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect((await bytesOf(response)).equals(Buffer.concat(pieces))).toBe(true);
    const record = await gateway.recordOf(response);
    expect([record?.outcome, record?.costPicoUsd, provider.bodies.length - before]).toEqual([
      'ok',
      7n * 1_000_000n + 90n * 12_000_000n,
      1,
    ]);
  });

  it.each([
    ['audio/mpeg', 0],
    // Raw samples may begin with the same byte as JSON.
    ['audio/pcm', 0x7b],
  ])(
    'is written as events if bytes of %s came in place of them, and no other provider is called',
    async (type, start) => {
      const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (start + at) % 256));
      answer = (outgoing) => void outgoing.writeHead(200, { 'content-type': type }).end(bytes);
      const before = provider.bodies.length;
      const response = await post({ model: 'tts-scripted', stream_format: 'sse' });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/event-stream'),
      ]);
      const events = dataLines(await response.text()).map((text) => JSON.parse(text) as Json);
      const audio = events.flatMap(({ type, audio: text }) =>
        type === 'speech.audio.delta' ? [Buffer.from(String(text), 'base64')] : [],
      );
      expect([Buffer.concat(audio).equals(bytes), events.at(-1)]).toEqual([true, { type: 'speech.audio.done' }]);
      const record = await gateway.recordOf(response);
      expect([record?.outcome, record?.costPicoUsd, provider.bodies.length - before]).toEqual([
        'ok',
        BigInt(input.length) * perCharacter,
        1,
      ]);
    },
  );

  it('is billed by its characters, and by those that were reserved', async () => {
    const record = await gateway.recordOf(await post({ input: 'Grüße 👋' }));
    expect(record).toMatchObject({ costPicoUsd: 7n * perCharacter, interfaceId: 'speech', outcome: 'ok' });
    expect(record?.estimated).not.toBe(true);
    const answers = Array.from({ length: 20 }, () => post({}, { authorization: `Bearer ${capped}` }));
    expect(await countOutcomes(answers)).toEqual({ ok: 3, PAYMENT_REQUIRED: 17 });
    await gateway.settled();
    expect(await expectBalancedBooks(gateway, 'capped')).toBe(BigInt(input.length) * perCharacter * 3n);
  });

  it('is estimated by its characters if only tokens have a price, within what was reserved, and flagged', async () => {
    const response = await post({ model: 'tts-tokens' });
    await response.arrayBuffer();
    const record = await gateway.recordOf(response);
    const tokens = Math.ceil((input.length * 1_250) / 900);
    expect(record).toMatchObject({ completionTokens: tokens, estimated: true });
    expect(record?.costPicoUsd).toBe(BigInt(record?.promptTokens ?? 0) * 1_000_000n + BigInt(tokens) * 12_000_000n);
    expect(gateway.logLines.filter((line) => line.includes('charge_over_hold'))).toEqual([]);
  });

  it('falls back before its first byte', async () => {
    const response = await post({ model: 'tts-fails' });
    expect([response.status, response.headers.get('x-gw-provider')]).toEqual([200, 'globex']);
    expect((await bytesOf(response)).subarray(0, 4).toString()).toBe('RIFF');
  });

  it('breaks if the provider breaks: the client’s connection is cut, and the call is no success', async () => {
    const response = await post({ model: 'tts-cut' });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(await gateway.recordOf(response)).toMatchObject({ outcome: 'cut' });
    await expectBalancedBooks(gateway);
  });

  it('is the same again, under an Idempotency-Key and from the cache, without a call', async () => {
    const once = { 'idempotency-key': 'speech-once' };
    const first = await bytesOf(await post({}, once));
    await gateway.settled();
    await bytesOf(await post({ cache: {} }));
    await gateway.settled();
    gateway.simulator.clear();
    const replay = await post({}, once);
    expect([replay.headers.get('idempotent-replayed'), replay.headers.get('content-type')]).toEqual([
      'true',
      'audio/wav',
    ]);
    expect((await bytesOf(replay)).equals(first)).toBe(true);
    const cached = await post({ cache: {} });
    expect([cached.headers.get('x-gw-cache'), cached.headers.get('content-type')]).toEqual(['HIT', 'audio/wav']);
    expect((await bytesOf(cached)).equals(first)).toBe(true);
    expect(gateway.simulator.calls).toEqual([]);
  });
});

describe('speech as events', () => {
  it('is relayed event by event, and billed as reported if tokens have a price', async () => {
    const response = await post({ model: 'tts-tokens-reported', stream_format: 'sse' });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = dataLines(await response.text()).map((line) => JSON.parse(line) as Json);
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { output_tokens: 90 } });
    const audio = Buffer.concat(
      events
        .filter(({ type }) => type === 'speech.audio.delta')
        .map(({ audio: text }) => Buffer.from(String(text), 'base64')),
    );
    expect(audio.equals(await direct())).toBe(true);
    expect(await gateway.recordOf(response)).toMatchObject({ costPicoUsd: 7n * 1_000_000n + 90n * 12_000_000n });
  });

  it('ends a stream that breaks with one error event', async () => {
    const response = await post({ model: 'tts-cut', stream_format: 'sse' });
    const events = dataLines(await response.text()).map((line) => JSON.parse(line) as Json);
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'no_available_provider' } });
    expect(await gateway.recordOf(response)).toMatchObject({ outcome: 'cut' });
  });
});

describe('clients', () => {
  const baseURL = () => `${new URL(gateway.url).origin}/openai/v1`;

  it('OpenAI’s reads bytes and errors', async () => {
    const { audio } = new OpenAI({ baseURL: baseURL(), apiKey: gateway.key, maxRetries: 0 });
    const request = { model: 'tts', input, voice: 'alloy', response_format: 'wav' } as const;
    expect((await bytesOf(await audio.speech.create(request))).equals(await direct())).toBe(true);
    await expect(audio.speech.create({ ...request, model: 'nobody' })).rejects.toMatchObject({ code: 'unknown_model' });
  });

  it('the AI SDK’s generateSpeech gets audio', async () => {
    const model = createOpenAI({ baseURL: baseURL(), apiKey: gateway.key }).speech('tts');
    const { audio } = await generateSpeech({ model, text: input, voice: 'alloy', outputFormat: 'wav' });
    expect(Buffer.from(audio.uint8Array).equals(await direct())).toBe(true);
    expect(audio.mediaType).toMatch(/^audio\//);
  });
});

it.each<[string, Json, string]>([
  ['no input', { input: undefined }, 'input'],
  ['an empty input', { input: '' }, 'input'],
  ['an input that is no text', { input: ['a'] }, 'input'],
  ['a voice that is a number', { voice: 7 }, 'voice'],
  ['a voice without an id', { voice: { name: 'a' } }, 'voice.id'],
  ['a speed that is a text', { speed: 'fast' }, 'speed'],
  ['a format that is no word', { response_format: 7 }, 'response_format'],
  ['a form that is no word', { stream_format: true }, 'stream_format'],
])('the gateway refuses %s before a provider is called, and reserves nothing', async (_what, more, param) => {
  await expectRefusedUnpaid(gateway, () => post(more, { 'x-gw-error-format': 'openai' }), param);
});

it('the gateway knows the options and formats that OpenAI’s own types know', () => {
  const imports = "import type { SpeechCreateParams } from 'openai/resources/audio/speech';";
  const literals = literalsOf(imports, {
    formats: "NonNullable<SpeechCreateParams['response_format']>",
    forms: "NonNullable<SpeechCreateParams['stream_format']>",
  });
  expect(literals).toEqual({ formats: ['aac', 'flac', 'mp3', 'opus', 'pcm', 'wav'], forms: ['audio', 'sse'] });
  const { body } = fieldsNamed(imports, { body: 'SpeechCreateParams' }, /^[a-z_]+$/);
  const names = body?.filter((way) => way.length === 1).map(([step]) => step?.name);
  expect([...new Set(names)].toSorted()).toEqual([
    ...['input', 'instructions', 'model', 'response_format', 'speed', 'stream_format', 'voice'],
  ]);
});
