// Guardrails on transcriptions: JSON, texts, subtitles and events, and fields that repeat the text.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';
import { type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import {
  completionOf,
  eventsReply,
  jsonReply,
  type ScriptedProvider,
  sendReply,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

type Json = Record<string, unknown>;

const mail = 'Write to ann@example.com today.';
const pieces = ['Write to ann@', 'example.com', ' today.'];
const word = { action: 'block', message: 'Not this word.' };

describe('guardrails on transcriptions', () => {
  const plainKey = newKey();
  let guardrail: ScriptedGuardrail;
  let provider: ScriptedProvider;
  let harness: Harness;
  /** The provider's next answer. */
  let answer: Json | string | readonly Json[];

  beforeAll(async () => {
    guardrail = await startScriptedGuardrail();
    provider = await startScriptedProvider((outgoing) => {
      if (typeof answer === 'string') outgoing.writeHead(200, { 'content-type': 'text/plain' }).end(answer);
      else sendReply(outgoing, Array.isArray(answer) ? eventsReply(...answer) : jsonReply(answer));
    });
    const imagePrice = {
      ...{ input_price_per_million: '0', output_price_per_million: '0', image_prices: { default: '0.04' } },
      supported_params: {},
    };
    const price = { input_price_per_second: '0.0001' };
    harness = await startHarness({
      models: {
        whisper: [{ provider: 'scripted', upstream: 'any', more: price }],
        painter: [{ provider: 'painter', upstream: 'any', more: imagePrice }],
        chat: [{ provider: 'chat', upstream: 'any' }],
        claude: [{ provider: 'claude', upstream: 'any' }],
      },
      providers: {
        scripted: { base_url: provider.url, apis: ['transcriptions'] },
        painter: { base_url: provider.url, apis: ['images'] },
        chat: { base_url: provider.url, apis: ['chat-completions'] },
        claude: { base_url: provider.url, apis: ['messages'] },
      },
      guardrails: [{ id: 'words', kind: 'http', url: guardrail.url, on: ['output'], window_characters: 20 }],
      workspace: { guardrails: ['words'] },
      moreWorkspaces: [{ id: 'plain', credit_usd: '10', keys: [{ name: 'plain', key: plainKey }] }],
    });
  });
  beforeEach(() => guardrail.clear());
  afterAll(async () => {
    await expectBalancedBooks(harness);
    await harness.stop();
    await provider.stop();
    await guardrail.stop();
  });

  async function post(fields: Readonly<Record<string, string>> = {}, key = harness.key): Promise<Response> {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'whisper', ...fields })) form.append(name, value);
    form.append('file', new File([Buffer.alloc(3_000, 7)], 'a.wav', { type: 'audio/wav' }));
    const response = await fetch(`${harness.url}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    return response;
  }

  describe('on images', () => {
    const image = 'iVBORw0KGgo='.repeat(500);
    const imageUsd = 40_000_000_000n;
    const paint = (more: Json = {}) =>
      harness.postTo('/images/generations', { model: 'painter', prompt: 'A lighthouse', n: 2, ...more });
    const eventOf = (text: string) => ({
      ...{ type: 'image_generation.completed', b64_json: image, created_at: 7, size: '1024x1024', quality: 'high' },
      ...{ background: 'opaque', output_format: 'png', revised_prompt: text },
    });
    const partial = { ...eventOf(''), type: 'image_generation.partial_image', revised_prompt: undefined };
    const eventsIn = async (response: Response) =>
      dataLines(await response.text()).map((line) => JSON.parse(line) as Json);

    it('mask what they say was drawn, and leave the image, whole and in events', async () => {
      answer = {
        created: 7,
        size: '1024x1024',
        data: [{ b64_json: image, revised_prompt: mail }, { b64_json: image }],
      };
      const { data } = (await (await paint()).json()) as { data: Json[] };
      expect(data).toEqual([{ b64_json: image, revised_prompt: 'Write to [mail] today.' }, { b64_json: image }]);
      answer = [partial, eventOf(mail), eventOf('A tower')];
      const events = await eventsIn(await paint({ stream: true }));
      expect(events.map(({ revised_prompt: text }) => text)).toEqual([undefined, 'Write to [mail] today.', 'A tower']);
      expect(events.every(({ b64_json: bytes }) => bytes === image)).toBe(true);
      expect(guardrail.questions.flatMap(({ texts }) => texts)).toEqual([mail, mail, 'A tower']);
    });

    it('block the images that they speak of, which are paid, whole and in events', async () => {
      const forbidden = 'A forbidden word';
      answer = {
        created: 7,
        style: forbidden,
        data: [{ b64_json: image, revised_prompt: 'A tower' }, { b64_json: image }],
      };
      const whole = await paint();
      expect(await whole.clone().json()).toMatchObject({ created: 7, data: [{ revised_prompt: word.message }] });
      expect(await whole.text()).not.toContain(image);
      expect((await harness.recordOf(whole))?.costPicoUsd).toBe(2n * imageUsd);
      answer = [eventOf('A tower'), eventOf(forbidden)];
      const stream = await paint({ stream: true });
      const events = await eventsIn(stream);
      expect(events.map(({ type, b64_json: bytes, revised_prompt: text }) => [type, bytes, text])).toEqual([
        ['image_generation.completed', image, 'A tower'],
        ['image_generation.completed', '', word.message],
      ]);
      expect((await harness.recordOf(stream))?.costPicoUsd).toBe(2n * imageUsd);
    });
  });

  it('leave what passes as it came, in JSON, as a text and as events', async () => {
    const done = { type: 'transcript.text.done', text: 'Good day.', usage: { type: 'duration', seconds: 1 } };
    const events = [
      { type: 'transcript.text.delta', delta: 'Good ' },
      { type: 'transcript.text.delta', delta: 'day.' },
      done,
    ];
    for (const one of [
      { text: 'Good day.', words: [{ word: 'Good', start: 0, end: 1 }] },
      'Good day.\n',
      events,
    ] as const) {
      answer = one;
      const fields = Array.isArray(one) ? { stream: 'true' } : {};
      const checkedText = await (await post(fields)).text();
      expect(checkedText).toBe(await (await post(fields, plainKey)).text());
    }
    const questions = guardrail.questions.map(({ direction, texts }) => [direction, ...texts]);
    expect(questions).toContainEqual(['output', 'Good day.']);
    expect(questions.every(([direction]) => direction === 'output')).toBe(true);
  });

  it('mask JSON in all its texts, and nothing else spells them', async () => {
    answer = {
      task: 'transcribe',
      text: mail,
      segments: [{ id: 0, text: mail, tokens: [50364, 2257], temperature: 0 }],
      words: [{ word: 'ann@example.com', start: 0, end: 1 }],
      logprobs: [{ token: 'ann@example', logprob: -0.1, bytes: [97] }],
      duration: 2,
    };
    const masked = 'Write to [mail] today.';
    const response = await post({ response_format: 'verbose_json' });
    expect(await response.json()).toEqual({
      task: 'transcribe',
      text: masked,
      segments: [{ id: 0, text: masked, tokens: [], temperature: 0 }],
      words: [],
      logprobs: [],
      duration: 2,
    });
    expect(await harness.lastRecord()).toMatchObject({ costPicoUsd: 200_000_000n, outcome: 'ok' });
  });

  it.each([
    ['a text', `${mail}\n`],
    ['SRT', `1\n00:00:00,000 --> 00:00:02,500\n${mail}\n\n`],
    ['VTT', `WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n${mail}\n\n`],
  ])('mask %s, whose type and lines stay', async (_what, text) => {
    answer = text;
    const response = await post({ response_format: 'text' });
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe(text.replace('ann@example.com', '[mail]'));
  });

  it.each<[string, Json | string, Json | string]>([
    [
      'JSON',
      { text: 'A forbidden tale', segments: [{ text: 'A forbidden tale' }], usage: { type: 'duration', seconds: 3 } },
      { text: word.message, usage: { type: 'duration', seconds: 3 } },
    ],
    ['a text', 'A forbidden tale\n', word.message],
    [
      'SRT',
      '1\n00:00:00,000 --> 00:00:02,500\nA forbidden tale\n\n',
      `1\n00:00:00,000 --> 00:00:01,000\n${word.message}\n\n`,
    ],
    [
      'VTT',
      'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nA forbidden tale\n\n',
      `WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n${word.message}\n\n`,
    ],
  ])(
    'put their message in the place of %s that is blocked, and the provider is paid',
    async (_what, original, replacement) => {
      answer = original;
      const before = (await harness.credit()).spent;
      const text = await (await post()).text();
      expect(typeof replacement === 'string' ? text : JSON.parse(text)).toEqual(replacement);
      const record = await harness.lastRecord();
      expect(record).toMatchObject({ guardrails: [{ id: 'words', direction: 'output', action: 'block' }] });
      expect((await harness.credit()).spent).toBeGreaterThan(before);
    },
  );

  const events = (texts: readonly string[]): Json[] => [
    ...texts.map((delta) => ({ type: 'transcript.text.delta', delta, logprobs: [{ token: delta, logprob: 0 }] })),
    { type: 'transcript.text.done', text: texts.join(''), usage: { type: 'duration', seconds: 2 } },
  ];
  const read = async (response: Response) => dataLines(await response.text()).map((line) => JSON.parse(line) as Json);

  it('mask events across their pieces, and the whole text at the end', async () => {
    answer = events(pieces);
    const streamEvents = await read(await post({ stream: 'true' }));
    expect(JSON.stringify(streamEvents)).not.toMatch(/ann@|example\.com/);
    const text = streamEvents.map(({ delta = '' }) => delta).join('');
    expect([text, streamEvents.at(-1)]).toEqual(['Write to [mail] today.', expect.objectContaining({ text })]);
    expect(await harness.lastRecord()).toMatchObject({ costPicoUsd: 200_000_000n, outcome: 'ok' });
  });

  it('end events that are blocked with their message, let nothing of that window out, and charge what was reported', async () => {
    answer = events(['It was a long time ago, when ', 'a forbidden tale ', 'was told.']);
    const streamEvents = await read(await post({ stream: 'true' }));
    const text = streamEvents.map(({ delta = '' }) => delta).join('');
    expect(text).toBe(`It was a long time ago, when ${word.message}`);
    expect(streamEvents.at(-1)).toEqual({
      type: 'transcript.text.done',
      text,
      usage: { type: 'duration', seconds: 2 },
    });
    expect(await harness.lastRecord()).toMatchObject({ costPicoUsd: 200_000_000n, outcome: 'ok' });
  });

  it('that fail block', async () => {
    guardrail.answer(() => ({}));
    for (const [one, fields] of [
      [{ text: mail }, {}],
      [mail, {}],
      [events(pieces), { stream: 'true' }],
    ] as const) {
      answer = one;
      const response = await post(fields);
      expect([response.status, await response.json()]).toMatchObject([503, { error: 'RATE_LIMITER_UNAVAILABLE' }]);
    }
  });

  it('take log probabilities out of a chat completion whose text they mask, which would spell it', async () => {
    const completion = JSON.parse(completionOf({ content: mail })) as { choices: Json[] };
    const content = [{ token: 'ann@example', logprob: -0.1, bytes: null, top_logprobs: [] }];
    answer = { ...completion, choices: completion.choices.map((one) => ({ ...one, logprobs: { content } })) };
    const text = await (await harness.post(hello('chat', { logprobs: true }))).text();
    expect(text).toContain('Write to [mail] today.');
    expect(text).not.toContain('ann@example');
  });

  it('leave the arguments of a tool as they came beside a text that they mask, whatever their names', async () => {
    const call = { type: 'tool_use', id: 'call', name: 'ask', input: { logprobs: true, words: ['one'], tokens: [1] } };
    const content = [{ type: 'text', text: mail }, call];
    const usage = { input_tokens: 1, output_tokens: 1 };
    answer = { id: 'm', type: 'message', role: 'assistant', model: 'any', content, stop_reason: 'tool_use', usage };
    const body = { model: 'claude', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
    const { content: blocks } = (await (await harness.postTo('/messages', body)).json()) as { content: Json[] };
    expect(blocks).toEqual([{ type: 'text', text: 'Write to [mail] today.' }, call]);
  });
});
