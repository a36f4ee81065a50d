// Units of a call in its record and in its key’s own view of the record: images, characters, seconds, search units, or
// tokens alone.
import { afterAll, beforeAll, expect, it } from '#jest';
import { spokenPieces } from '../../infra/local/simulator/formats/openai-speech.ts';
import { type CountedUnits, unitsText } from '../../shared/foundation/constants/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const free = { input_price_per_million: '0', output_price_per_million: '0', supported_params: {} };
/** A recording of two seconds. */
const audio = Buffer.concat(spokenPieces(new Array(40).fill('word').join(' '), 'wav'));
const noTokens = { prompt_tokens: 0, completion_tokens: 0, estimated: false };

let gateway: Harness;
beforeAll(async () => {
  const at = (provider: string, upstream: string, more: Json) => [{ provider, upstream, more: { ...free, ...more } }];
  gateway = await startHarness({
    models: {
      image: at('open', 'no-usage', { image_prices: { default: '0.04' } }),
      'image-tokens': at('open', 'usage:7:300', { output_price_per_million: '40', max_output_tokens: 1_000 }),
      tts: at('open', 'echo', { input_price_per_character: '0.000015' }),
      'tts-tokens': at('open', 'echo', { audio_output_price_per_million: '12', max_output_tokens: 4_000 }),
      whisper: at('open', 'no-usage', { input_price_per_second: '0.0001' }),
      'whisper-tokens': at('open', 'usage:40:6', { input_price_per_million: '6', max_output_tokens: 2_000 }),
      rerank: at('cohere', 'usage:0:3', { price_per_request: '0.002', max_output_tokens: 1 }),
      moderation: at('open', 'echo', {}),
      chat: [{ provider: 'chat', upstream: 'usage:5:2' }],
    },
    providers: {
      open: { apis: ['images', 'speech', 'transcriptions', 'moderations'] },
      cohere: { apis: ['rerank'] },
      chat: { apis: ['chat-completions', 'messages'] },
    },
  });
});
afterAll(() => gateway.stop());

function transcribe(model: string): Promise<Response> {
  const form = new FormData();
  form.append('model', model);
  form.append('file', new File([audio], 'a.wav', { type: 'audio/wav' }));
  const headers = { authorization: `Bearer ${gateway.key}` };
  return fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: form });
}
const documents = Array.from({ length: 250 }, () => 'A text');
const prompt = 'A lighthouse';
const input = 'Good day';

it.each<[string, () => Promise<Response>, Json]>([
  [
    'images',
    () => gateway.postTo('/images/generations', { model: 'image', prompt, n: 3 }),
    { ...noTokens, units: { images: 3 } },
  ],
  [
    'images by tokens',
    () => gateway.postTo('/images/generations', { model: 'image-tokens', prompt }),
    { units: { images: 1 }, prompt_tokens: 7, completion_tokens: 300, estimated: false },
  ],
  [
    'speech',
    () => gateway.postTo('/audio/speech', { model: 'tts', input, voice: 'a' }),
    { ...noTokens, units: { characters: 8 } },
  ],
  [
    'speech by tokens, which nobody reported',
    () => gateway.postTo('/audio/speech', { model: 'tts-tokens', input, voice: 'a' }),
    { units: { characters: 8 }, completion_tokens: 12, estimated: true },
  ],
  ['transcriptions', () => transcribe('whisper'), { ...noTokens, units: { seconds: 2 } }],
  [
    'transcriptions by tokens',
    () => transcribe('whisper-tokens'),
    { units: { seconds: 2 }, prompt_tokens: 40, completion_tokens: 6, estimated: false },
  ],
  [
    'reranking',
    () => gateway.postTo('/rerank', { model: 'rerank', query: 'weather', documents }),
    { ...noTokens, units: { search_units: 3 } },
  ],
  ['moderations', () => gateway.postTo('/moderations', { model: 'moderation', input }), { units: null }],
  ['chat completions', () => gateway.post(hello('chat')), { units: null, prompt_tokens: 5, completion_tokens: 2 }],
  [
    'counting tokens',
    () => gateway.postTo('/messages/count_tokens', { model: 'chat', messages: [{ role: 'user', content: 'Hi' }] }),
    { units: null },
  ],
])(
  'the record of %s says what was counted, and no tokens that were only guessed',
  async (_what, ask, expectedUnits) => {
    const response = await ask();
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    await gateway.settled();
    const id = response.headers.get('x-request-id') ?? '';
    const { data } = (await (await gateway.get(`/generation?id=${id}`)).json()) as { data: Json };
    expect(data).toMatchObject(expectedUnits);
    const line = gateway.logLines.find((line) => line.includes(`"${id}"`) && line.includes('"event":"request"'));
    const units = expectedUnits.units as CountedUnits | null;
    expect(JSON.parse(line ?? '{}')).toMatchObject(units === null ? { outcome: 'ok' } : { units: unitsText(units) });
    if (units === null) expect(line).not.toContain('"units"');
  },
);
