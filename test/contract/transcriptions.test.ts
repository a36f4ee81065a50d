// Transcriptions of files in forms: reserved by their length, and charged as reported.
import { createOpenAI } from '@ai-sdk/openai';
import { transcribe } from 'ai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '#jest';
import { spokenPieces } from '../../infra/local/simulator/formats/openai-speech.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines, type Harness, startHarness } from '../support/harness.ts';
import { fieldsNamed, literalsOf } from '../support/installed-types.ts';
import { countOutcomes } from '../support/outcomes.ts';

type Json = Record<string, unknown>;

/** A recording of ten words lasts half a second, one of forty two seconds. */
const wavOf = (words: number) => Buffer.concat(spokenPieces(new Array(words).fill('word').join(' '), 'wav'));
const shortWav = wavOf(10);
const twoSeconds = wavOf(40);
const capped = newKey();

let gateway: Harness;
beforeAll(async () => {
  const free = { input_price_per_million: '0', output_price_per_million: '0', max_output_tokens: 2_000 };
  const more = { ...free, input_price_per_second: '0.0001', supported_params: {}, streaming: true };
  const acme = (upstream: string, prices: Json = more) => [{ provider: 'acme', upstream, more: prices }];
  gateway = await startHarness({
    speaks: { api: 'transcriptions', path: '/audio/transcriptions' },
    models: {
      whisper: acme('whisper-1/echo'),
      silent: acme('no-usage'),
      tokens: acme('usage:40:6', { ...more, input_price_per_million: '6', output_price_per_million: '10' }),
      fails: [...acme('error-500'), { provider: 'globex', upstream: 'whisper-1/echo', more }],
      'cut-stream': acme('cut:2'),
    },
    moreWorkspaces: [
      { id: 'capped', credit_usd: '100', keys: [{ name: 'three', key: capped, spend_limit_usd: '0.0006' }] },
    ],
  });
});
beforeEach(() => gateway.simulator.clear());
afterAll(() => gateway.stop());

interface UploadRequest {
  readonly fields?: Readonly<Record<string, string>>;
  readonly file?: Buffer | undefined;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

function post({
  fields = {},
  file = twoSeconds,
  type = 'audio/wav',
  headers = {},
}: UploadRequest = {}): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: 'whisper', ...fields })) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(file)], { type }), 'speech.wav');
  return fetch(`${gateway.url}/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body: form,
  });
}
const perSecond = 100_000_000n;

describe('a transcription', () => {
  it('comes in the form that was asked for, as the provider wrote it, with its cost in a header', async () => {
    for (const [format, type, start] of [
      ['json', 'application/json', '{"text":'],
      ['verbose_json', 'application/json', '{"task":'],
      ['text', 'text/plain; charset=utf-8', ''],
      ['srt', 'text/plain; charset=utf-8', '1\n00:00'],
      ['vtt', 'text/plain; charset=utf-8', 'WEBVTT'],
    ] as const) {
      const response = await post({ fields: { response_format: format } });
      expect([format, response.status, response.headers.get('content-type')]).toEqual([format, 200, type]);
      const text = await response.text();
      expect(text.startsWith(start)).toBe(true);
      expect(text).toContain('simulated by the provider acme');
      expect(Number(response.headers.get('x-gw-cost'))).toBeGreaterThan(0);
    }
  });

  it('reaches the provider with file, name and type, and without what is the gateway’s own', async () => {
    await post({ fields: { 'timestamp_granularities[]': 'word', 'provider[only][]': 'acme', language: 'en' } });
    const [call] = gateway.simulator.calls;
    expect(call?.body).toMatchObject({ model: 'whisper-1/echo', language: 'en' });
    expect(JSON.stringify(call?.body)).toContain('speech.wav');
    expect(JSON.stringify(call?.body)).not.toContain('only');
  });

  it('comes in pieces if events are asked for, each as the provider wrote it', async () => {
    const response = await post({ fields: { stream: 'true' } });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = dataLines(await response.text()).map((line) => JSON.parse(line) as Json);
    const pieces = events.filter(({ type }) => type === 'transcript.text.delta').map(({ delta }) => delta);
    expect(pieces.length).toBeGreaterThan(3);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: pieces.join('') });
    expect(await gateway.recordOf(response)).toMatchObject({ costPicoUsd: (25n * perSecond) / 10n, outcome: 'ok' });
    const brokenLines = dataLines(await (await post({ fields: { stream: 'true', model: 'cut-stream' } })).text());
    expect(JSON.parse(brokenLines.at(-1) ?? '')).toMatchObject({
      type: 'error',
      error: { code: 'no_available_provider' },
    });
  });

  it('falls back, and is the same again under an Idempotency-Key, also as a text', async () => {
    const fallback = await post({ fields: { model: 'fails' } });
    expect([fallback.status, fallback.headers.get('x-gw-provider')]).toEqual([200, 'globex']);
    const once = { fields: { response_format: 'srt' }, headers: { 'idempotency-key': 'once' } };
    const first = await (await post(once)).text();
    await gateway.settled();
    gateway.simulator.clear();
    const again = await post(once);
    expect([await again.text(), again.headers.get('content-type')]).toEqual([first, 'text/plain; charset=utf-8']);
    const other = await post({ ...once, file: shortWav });
    expect(await other.json()).toMatchObject({ error: 'idempotency_conflict' });
    expect(gateway.simulator.calls).toEqual([]);
  });
});

describe('the price of a file', () => {
  it('is its reported length, by the second and parts of it', async () => {
    const record = await gateway.recordOf(await post());
    expect(record?.costPicoUsd).toBe((25n * perSecond) / 10n);
  });

  it('is its own length in whole seconds if nothing is reported, else that of its bytes at 8 kbit/s', async () => {
    expect((await gateway.recordOf(await post({ fields: { model: 'silent' } })))?.costPicoUsd).toBe(2n * perSecond);
    const unknown = Buffer.alloc(4_500, 7);
    const upload = { fields: { model: 'silent' }, file: unknown, type: 'application/octet-stream' };
    expect((await gateway.recordOf(await post(upload)))?.costPicoUsd).toBe(5n * perSecond);
    await expectBalancedBooks(gateway);
  });

  it('is what its samples play if its head says less', async () => {
    const forged = Buffer.concat([twoSeconds, Buffer.alloc(200_000)]);
    const upload = { fields: { model: 'silent' }, file: forged };
    const seconds = BigInt(Math.ceil(forged.length / 48_000));
    expect((await gateway.recordOf(await post(upload)))?.costPicoUsd).toBe(seconds * perSecond);
    await expectBalancedBooks(gateway);
  });

  it('is that of reported tokens if these have a price', async () => {
    const record = await gateway.recordOf(await post({ fields: { model: 'tokens' } }));
    expect(record?.costPicoUsd).toBe(40n * 6_000_000n + 6n * 10_000_000n);
  });

  it('is reserved by its length, so that of twenty concurrent calls three pass that a spend limit covers', async () => {
    const upload = { fields: { model: 'whisper' }, headers: { authorization: `Bearer ${capped}` } };
    const { ok = 0 } = await countOutcomes(Array.from({ length: 20 }, () => post(upload)));
    // Two seconds are reserved, and two and a half are charged.
    expect([2, 3]).toContain(ok);
    expect(gateway.simulator.calls).toHaveLength(ok);
    await gateway.settled();
    expect(await expectBalancedBooks(gateway, 'capped')).toBe((BigInt(ok) * 25n * perSecond) / 10n);
  });
});

describe('clients', () => {
  const baseURL = () => `${new URL(gateway.url).origin}/openai/v1`;

  it('OpenAI’s reads JSON, text and events', async () => {
    const { audio } = new OpenAI({ baseURL: baseURL(), apiKey: gateway.key, maxRetries: 0 });
    const file = await toFile(twoSeconds, 'speech.wav', { type: 'audio/wav' });
    const { text } = await audio.transcriptions.create({ model: 'whisper', file });
    expect(text).toContain('simulated by the provider acme');
    const srt = await audio.transcriptions.create({ model: 'whisper', file, response_format: 'srt' });
    expect(srt).toMatch(/^1\n00:00/);
    let streamText = '';
    for await (const event of await audio.transcriptions.create({ model: 'whisper', file, stream: true })) {
      if (event.type === 'transcript.text.delta') streamText += event.delta;
    }
    expect(streamText).toBe(text);
    await expect(audio.transcriptions.create({ model: 'nobody', file })).rejects.toMatchObject({
      code: 'unknown_model',
    });
  });

  it('the AI SDK’s transcribe gets a text', async () => {
    const model = createOpenAI({ baseURL: baseURL(), apiKey: gateway.key }).transcription('whisper');
    const { text, durationInSeconds } = await transcribe({ model, audio: twoSeconds });
    expect(text).toContain('simulated by the provider acme');
    expect(durationInSeconds ?? 2.5).toBe(2.5);
  });
});

it('the gateway refuses a body without a file, of JSON too, and options of another type, before a provider is called', async () => {
  await gateway.settled();
  const before = (await gateway.credit()).spent;
  const headers = { 'x-gw-error-format': 'openai' };
  const refusals = [
    [await gateway.post({ model: 'whisper', file: 'a' }, headers), 'file'],
    [await post({ fields: { temperature: 'warm' }, headers }), 'temperature'],
    [await post({ fields: { stream: 'maybe' }, headers }), 'stream'],
  ] as const;
  for (const [response, param] of refusals) {
    expect([param, await response.json()]).toMatchObject([param, { error: { code: 'invalid_request', param } }]);
  }
  expect(gateway.simulator.calls).toEqual([]);
  await gateway.settled();
  expect((await gateway.credit()).spent).toBe(before);
});

it('the gateway takes a file name in UTF-8 or Latin-1, refuses any other charset, and writes no word of it to a log', async () => {
  const spies = (['log', 'info', 'warn', 'error', 'debug'] as const).map((method) =>
    jest.spyOn(console, method).mockImplementation(() => {}),
  );
  const postNamed = (parameter: string) =>
    fetch(`${gateway.url}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: Buffer.concat([
        Buffer.from('--b\r\ncontent-disposition: form-data; name=model\r\n\r\nwhisper\r\n'),
        Buffer.from(`--b\r\ncontent-disposition: form-data; name=file; ${parameter}\r\n`),
        Buffer.from('content-type: audio/wav\r\n\r\n'),
        twoSeconds,
        Buffer.from('\r\n--b--\r\n'),
      ]),
    });
  for (const good of ["filename*=UTF-8''gr%C3%BCn.wav", `filename=plain; filename*=iso-8859-1'de'gr%FCn.wav`]) {
    expect((await postNamed(good)).status).toBe(200);
  }
  const names = gateway.simulator.calls.map(({ body }) => (body as { file: { file_name: string } }).file.file_name);
  expect(names).toEqual(['grün.wav', 'grün.wav']);
  gateway.simulator.clear();
  const [before, charset] = [gateway.logLines.length, 'secret-of-a-client'];
  for (const bad of [`filename*=${charset}''a.wav`, `filename*="\\s${charset.slice(1)}''a.wav"`]) {
    const response = await postNamed(`filename=a.wav; ${bad}`);
    const answer = (await response.json()) as { message: string };
    expect([response.status, answer]).toMatchObject([400, { error: 'invalid_request' }]);
    expect(answer.message).toBe('file: the name of the file is in another charset than UTF-8 and ISO-8859-1');
  }
  expect(gateway.simulator.calls).toEqual([]);
  expect(spies.flatMap(({ mock }) => mock.calls)).toEqual([]);
  expect(gateway.logLines.slice(before).join('')).not.toContain(charset);
  for (const spy of spies) spy.mockRestore();
});

it('the gateway knows the options and forms that OpenAI’s own types know', () => {
  const imports =
    "import type { AudioResponseFormat } from 'openai/resources/audio/audio';\nimport type { TranscriptionCreateParamsBase } from 'openai/resources/audio/transcriptions';";
  expect(literalsOf(imports, { forms: 'AudioResponseFormat' })).toEqual({
    forms: ['diarized_json', 'json', 'srt', 'text', 'verbose_json', 'vtt'],
  });
  const { body } = fieldsNamed(imports, { body: 'TranscriptionCreateParamsBase' }, /^[a-z_]+$/);
  const names = body?.filter((way) => way.length === 1).map(([step]) => step?.name);
  expect([...new Set(names)].toSorted()).toEqual([
    ...['chunking_strategy', 'file', 'include', 'keywords', 'known_speaker_names', 'known_speaker_references'],
    ...['language', 'languages', 'model', 'prompt', 'response_format', 'stream', 'temperature'],
    'timestamp_granularities',
  ]);
});
