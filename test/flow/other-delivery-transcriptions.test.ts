// Transcriptions in the other delivery: a provider answers whole although the client asked for events, which some
// models do not make, or the reverse.
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterAll, beforeAll, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { openaiOf } from '../support/official-clients.ts';
import {
  eventTexts,
  jsonReply,
  type ScriptedProvider,
  type ScriptedReply,
  sendReply,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

let provider: ScriptedProvider;
let gateway: Harness;
let client: OpenAI;
let reply: ScriptedReply;
/** Each of them is a provider of its own, because two failures of a provider would cool it. */
const failing = ['failing-0', 'failing-1', 'failing-2', 'failing-3'];

beforeAll(async () => {
  provider = await startScriptedProvider((outgoing) => {
    sendReply(outgoing, reply);
  });
  const free = { input_price_per_million: '0', output_price_per_million: '0', max_output_tokens: 100 };
  const by = (more: object) => [{ provider: 'acme', upstream: 'm', more: { ...free, ...more } }];
  gateway = await startHarness({
    models: {
      seconds: by({ input_price_per_second: '0.0001' }),
      ...Object.fromEntries(
        failing.map((id) => [
          id,
          [{ provider: id, upstream: 'm', more: { ...free, input_price_per_second: '0.0001' } }],
        ]),
      ),
      tokens: by({ input_price_per_million: '2', audio_input_price_per_million: '6', output_price_per_million: '10' }),
    },
    providers: Object.fromEntries(
      ['acme', ...failing].map((id) => [id, { apis: ['transcriptions'], base_url: provider.url }]),
    ),
  });
  client = openaiOf(gateway);
});
afterAll(async () => {
  await gateway.settled();
  await expectBalancedBooks(gateway);
  await gateway.stop();
  await provider.stop();
});

const micro = 1_000_000n;
/** A file in no known format; its bytes count as five seconds. */
const file = () => toFile(Buffer.alloc(5_000, 7), 'a.bin');

async function chargedCall<Answer>(
  ask: () => Promise<Answer>,
): Promise<{ answer: Answer; cost: bigint; calls: number }> {
  await gateway.settled();
  const [{ available }, before] = [await gateway.credit(), provider.bodies.length];
  const answer = await ask();
  await gateway.settled();
  const cost = available - (await gateway.credit()).available;
  return { answer, cost, calls: provider.bodies.length - before };
}

async function streamOf(model: string, more: { readonly response_format?: 'text' } = {}) {
  const events: unknown[] = [];
  const body = { model, file: await file(), stream: true as const, ...more };
  for await (const event of await client.audio.transcriptions.create(body)) events.push(event);
  return events;
}

const length = { type: 'duration', seconds: 3 };
const tokens = {
  type: 'tokens',
  input_tokens: 100,
  input_token_details: { audio_tokens: 90, text_tokens: 10 },
  output_tokens: 4,
  total_tokens: 104,
};
const logprobs = [{ token: 'Good', logprob: -0.1, bytes: [71] }];

it.each<[string, string, string, object, bigint]>([
  ['JSON by the second', 'seconds', JSON.stringify({ text: 'Good day.', usage: length }), { usage: length }, 300n],
  [
    'JSON by the token',
    'tokens',
    JSON.stringify({ text: 'Good day.', logprobs, usage: tokens }),
    { logprobs, usage: tokens },
    90n * 6n + 10n * 2n + 4n * 10n,
  ],
  [
    'verbose JSON, which says its length alone',
    'seconds',
    JSON.stringify({ task: 'transcribe', duration: 2.5, text: 'Good day.', segments: [] }),
    { usage: { type: 'duration', seconds: 2.5 } },
    250n,
  ],
])('a transcription is events if it comes as %s', async (_what, model, text, more, cost) => {
  reply = jsonReply(text);
  expect(await chargedCall(() => streamOf(model))).toEqual({
    answer: [
      { type: 'transcript.text.delta', delta: 'Good day.' },
      { type: 'transcript.text.done', text: 'Good day.', ...more },
    ],
    cost: cost * micro,
    calls: 1,
  });
});

it.each(['Good day.\n', '1\n00:00:00,000 --> 00:00:02,500\nGood day.\n\n', '[laughs] {so}', ''])(
  'a transcription is events if it comes as a text: %j',
  async (text) => {
    reply = { type: 'text/plain; charset=utf-8', body: text };
    const { answer, cost, calls } = await chargedCall(() => streamOf('seconds', { response_format: 'text' }));
    const delta = { type: 'transcript.text.delta', delta: text };
    expect(answer).toEqual([...(text === '' ? [] : [delta]), { type: 'transcript.text.done', text }]);
    expect([cost, calls]).toEqual([500n * micro, 1]);
  },
);

it('a transcription is the events that came if the provider calls them events, whatever they begin with', async () => {
  const done = { type: 'transcript.text.done', text: 'Good day.', usage: length };
  reply = { type: 'text/event-stream', body: `padding: 1\ndata: ${JSON.stringify(done)}\n\n` };
  expect(await chargedCall(() => streamOf('seconds'))).toEqual({ answer: [done], cost: 300n * micro, calls: 1 });
});

it.each(['text/event-stream', 'application/json'])(
  'a transcription is whole if it comes as events of %s',
  async (type) => {
    const events = [
      { type: 'transcript.text.delta', delta: 'Good ' },
      { type: 'transcript.text.delta', delta: 'day.' },
      { type: 'transcript.text.done', text: 'Good day.', usage: length },
    ];
    reply = { type, body: eventTexts(...events) };
    expect(
      await chargedCall(async () => client.audio.transcriptions.create({ model: 'seconds', file: await file() })),
    ).toEqual({ answer: { text: 'Good day.', usage: length }, cost: 300n * micro, calls: 1 });
  },
);

it.each([
  ['failing-0', 'application/json', true, '{"error":{"message":"overloaded","type":"server_error"}}'],
  ['failing-1', 'application/json', true, '{"text":"Good'],
  ['failing-2', 'text/html', true, '<!doctype html><p>Sign in'],
  ['failing-3', 'text/event-stream', false, 'data: {"type":"transcript.text.delta","delta":"Good"}\n\n'],
])(
  'a transcription that fails in the other form fails, and costs nothing: %s, %s',
  async (model, type, stream, text) => {
    reply = { type, body: text };
    const { answer, cost, calls } = await chargedCall(async () => {
      const call = client.audio.transcriptions.create({ model, file: await file(), stream });
      return call.catch((error: unknown) => error);
    });
    expect(answer).toMatchObject({ status: 502 });
    expect([cost, calls]).toEqual([0n, 1]);
  },
);

it('a transcription costs as sound what is reported without details', async () => {
  const { input_token_details: _details, ...usage } = tokens;
  reply = jsonReply({ text: 'Good day.', usage });
  const { cost } = await chargedCall(async () =>
    client.audio.transcriptions.create({ model: 'tokens', file: await file() }),
  );
  expect(cost).toBe((100n * 6n + 4n * 10n) * micro);
});

const done = { type: 'transcript.text.done', text: 'Good day.' };
const pieces = [
  { type: 'transcript.text.delta', delta: 'Good ' },
  { type: 'transcript.text.delta', delta: 'day.' },
];
const chunkOf = (content: string, more: object = {}) => ({
  id: 'trsc-1',
  object: 'transcription.chunk',
  created: 1,
  model: 'openai/whisper-large-v3',
  choices: [{ delta: { content }, finish_reason: null }],
  ...more,
});
const mistralUsage = { prompt_audio_seconds: 3, prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 };

/**
 * These forms are documented at docs.mistral.ai/capabilities/audio_transcription and docs.vllm.ai (Transcriptions API),
 * November 2026.
 */
const foreign: readonly (readonly [string, string, object, bigint])[] = [
  [
    'Mistral',
    eventTexts(
      { type: 'transcription.language', audio_language: 'en' },
      { type: 'transcription.text.delta', text: 'Good ' },
      { type: 'transcription.text.delta', text: 'day.' },
      {
        type: 'transcription.done',
        model: 'voxtral-mini-2602',
        text: 'Good day.',
        language: 'en',
        usage: mistralUsage,
      },
    ),
    { model: 'voxtral-mini-2602', language: 'en', usage: mistralUsage },
    300n,
  ],
  [
    'vLLM',
    `${eventTexts(chunkOf('Good '), chunkOf('day.', { choices: [{ delta: { content: 'day.' }, finish_reason: 'stop' }] }), { ...chunkOf(''), choices: [], usage: { type: 'duration', seconds: 3 } })}data: [DONE]\n\n`,
    { usage: { type: 'duration', seconds: 3 } },
    300n,
  ],
];

it.each(foreign)(
  'a transcription is in OpenAI’s words if it streams in those of %s, once',
  async (_host, body, more, cost) => {
    reply = { type: 'text/event-stream', body };
    const { answer, ...rest } = await chargedCall(() => streamOf('seconds'));
    expect(rest).toEqual({ cost: cost * micro, calls: 1 });
    const events = answer as { readonly type: string; readonly delta?: string }[];
    const texts = events.filter(({ type, delta }) => type === 'transcript.text.delta' && delta !== '');
    expect([texts, events.at(-1)]).toEqual([pieces, { ...done, ...more }]);
  },
);

it.each(foreign)(
  'a transcription is one text if %s streams although none was asked for',
  async (_host, body, more, cost) => {
    reply = { type: 'text/event-stream', body };
    const result = await chargedCall(async () =>
      client.audio.transcriptions.create({ model: 'seconds', file: await file() }),
    );
    expect(result).toEqual({ answer: { text: 'Good day.', ...more }, cost: cost * micro, calls: 1 });
  },
);

it('a transcription is a broken stream if chunks end without a word, and nothing says that it is whole', async () => {
  reply = { type: 'text/event-stream', body: eventTexts(chunkOf('Good ')) };
  await expect(streamOf('failing-3')).rejects.toThrow();
});
