// provider.max_price and the order by price: every price that can be charged for a call counts, and no other price.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { spokenPieces } from '../../infra/local/simulator/formats/openai-speech.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import type { Route } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { png } from '../support/png.ts';

type Json = Record<string, unknown>;

const apis = ['chat-completions', 'messages', 'responses', 'images', 'speech', 'transcriptions', 'rerank'];
const tokens = (input: string, output = input) => ({
  input_price_per_million: input,
  output_price_per_million: output,
});
const at = (provider: string, more: Json, upstream = 'echo'): Route => ({ provider, upstream, more });
const free = (more: Json) => [at('one', { ...tokens('0'), ...more })];
const tier = (above: number, input: string, output = input) => ({
  price_tiers: [{ above_prompt_tokens: above, ...tokens(input, output) }],
});
const cached = { cached_input_price_per_million: '0.1' };
const writes = (price: string) => ({ ...cached, cache_write_input_price_per_million: price });

let gateway: Harness;

beforeAll(async () => {
  gateway = await startHarness({
    models: {
      tiers: [at('one', { ...tokens('1'), ...tier(2_000, '10', '20') }), at('two', tokens('5'))],
      output: [at('one', { ...tokens('1'), ...tier(2_000, '1', '20') }), at('two', tokens('5'))],
      writes: [at('one', { ...tokens('1'), ...writes('6') }), at('two', { ...tokens('2'), ...cached })],
      // The gateway marks prompts for this model's cache, from 512 tokens on.
      'claude-opus-5': [
        at('one', { ...tokens('1'), ...writes('6'), prompt_cache: 'auto' }, 'claude-opus-5'),
        at('two', tokens('2')),
      ],
      seen: [
        at('one', { ...tokens('1'), image_input_price_per_million: '9', audio_input_price_per_million: '90' }),
        at('two', tokens('4')),
      ],
      heard: [at('one', { ...tokens('1'), audio_input_price_per_million: '9' }), at('two', tokens('4'))],
      drawn: [at('one', { ...tokens('1'), image_output_price_per_million: '9' }), at('two', tokens('4'))],
      request: [at('one', { ...tokens('1'), price_per_request: '0.01' }), at('two', tokens('4'))],
      image: free({ output_price_per_image: '0.17' }),
      sized: free({ image_prices: { '512x512/low': '0.01', '512x512/high': '0.2' } }),
      mixed: free({ ...tokens('5', '10'), output_price_per_image: '0.17' }),
      noCharge: free({ output_price_per_image: '0' }),
      speech: free({ input_price_per_character: '0.00003' }),
      transcript: free({ input_price_per_second: '0.0001' }),
      rank: free({ price_per_request: '0.002' }),
    },
    modelMembers: { heard: { modalities: ['text', 'image', 'audio'] } },
    providers: { one: { apis }, two: { apis } },
  });
});
beforeEach(() => gateway.simulator.clear());
afterAll(async () => {
  await expectBalancedBooks(gateway);
  await gateway.stop();
});

async function servedBy(answer: Response): Promise<string | null> {
  expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
  expect(gateway.simulator.calls).toHaveLength(1);
  gateway.simulator.clear();
  return answer.headers.get('x-gw-provider');
}
/** Returns the refusal's message and checks that no provider was called. */
async function refusalCode(answer: Response): Promise<string> {
  const { message } = await expectError(answer, 402, 'price_cap_exceeded');
  expect(gateway.simulator.calls).toEqual([]);
  return message;
}
const under = (max_price: unknown, more: Json = {}) => ({ provider: { max_price, ...more } });
const bodyWith = (text: string) => ({ messages: [{ role: 'user', content: text }] });
const showing = (...parts: readonly Json[]) => ({ messages: [{ role: 'user', content: parts }] });
const chat = (model: string, more: Json = {}) => gateway.post(hello(model, { max_tokens: 9, ...more }));
const long = bodyWith('x'.repeat(3_000));

describe('the price of a token', () => {
  it('is that of the tier which the prompt can reach, of input and of output', async () => {
    expect(await servedBy(await chat('tiers'))).toBe('one');
    expect(await servedBy(await chat('tiers', long))).toBe('two');
    expect(await servedBy(await chat('tiers', under(4)))).toBe('one');
    expect(await servedBy(await chat('tiers', { ...long, ...under(5) }))).toBe('two');
    expect(await refusalCode(await chat('tiers', { ...long, ...under(4) }))).toContain(
      'two, the cheapest, costs 5 USD',
    );
    const only = { ...long, ...under({ completion: 19 }, { only: 'one' }) };
    expect(await refusalCode(await chat('output', only))).toContain('provider.max_price.completion 20');
    expect(await servedBy(await chat('output', { ...long, ...under({ prompt: 1 }) }))).toBe('one');
  });

  it('is that of a cache write if the client marks a part of its prompt, and only then', async () => {
    const cache_control = { type: 'ephemeral' };
    const markedRequest = showing({ type: 'text', text: 'Hello', cache_control });
    expect(await servedBy(await chat('writes'))).toBe('one');
    expect(await servedBy(await chat('writes', markedRequest))).toBe('two');
    expect(await servedBy(await chat('writes', { prompt_cache_options: { mode: 'implicit' } }))).toBe('two');
    expect(await servedBy(await chat('writes', bodyWith('"cache_control": {"type":"ephemeral"}')))).toBe('one');
    expect(await servedBy(await chat('writes', under(1)))).toBe('one');
    expect(await servedBy(await chat('writes', { ...markedRequest, ...under(2) }))).toBe('two');
    const only = under({ prompt: 5 }, { only: 'one' });
    expect(await refusalCode(await chat('writes', { ...markedRequest, ...only }))).toContain(
      'provider.max_price.prompt 6',
    );
    const message = { model: 'writes', max_tokens: 9, ...markedRequest, ...only };
    const answer = await gateway.postTo('/messages', message);
    expect([answer.status, await answer.text()]).toEqual([402, expect.stringContaining('provider.max_price.prompt 6')]);
    const instructions = { role: 'user', content: [{ type: 'input_text', text: 'x', prompt_cache_breakpoint: {} }] };
    const request = { model: 'writes', input: [instructions] };
    expect(await servedBy(await gateway.postTo('/responses', request))).toBe('two');
  });

  it('is that of a cache write if the gateway marks the prompt, from the length on that it marks', async () => {
    expect(await servedBy(await chat('claude-opus-5'))).toBe('one');
    expect(await servedBy(await chat('claude-opus-5', long))).toBe('two');
  });

  it('is that of images and sound if the prompt has some, of each kind for itself', async () => {
    const image = { type: 'image_url', image_url: { url: png(100, 100) } };
    const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
    expect(await servedBy(await chat('seen'))).toBe('one');
    expect(await servedBy(await chat('seen', showing(image)))).toBe('two');
    expect(await refusalCode(await chat('seen', { ...showing(image), ...under(8, { only: 'one' }) }))).toContain(
      'costs 9 USD for a million tokens of prompt',
    );
    expect(await servedBy(await chat('heard', { ...showing(image), ...under(1) }))).toBe('one');
    expect(await servedBy(await chat('heard', { ...showing(sound), ...under(5) }))).toBe('two');
  });

  it('is that of images which a model may answer with', async () => {
    expect(await servedBy(await chat('drawn', under({ completion: 5 })))).toBe('two');
    expect(await servedBy(await chat('drawn', { provider: { sort: 'price' } }))).toBe('two');
  });
});

describe('the price of a unit', () => {
  const draw = (model: string, more: Json) => gateway.postTo('/images/generations', { model, prompt: 'p', ...more });

  it.each([
    ['0', 0],
    ['one of tokens', 1_000_000],
    ['one of other units', { prompt: 9, completion: 9, request: 9, second: 9, character: 9 }],
    ['one below it', { image: '0.16999' }],
  ])('of an image is above a cap of %s', async (_, cap) => {
    const message = await refusalCode(await draw('image', under(cap)));
    expect(message).toContain('one, the cheapest, costs 0.17 USD for an image.');
    expect(message).toContain('provider.max_price.image 0.17');
    expect(message).not.toContain('prompt');
  });

  it('of an image is under a cap of images that is as high, and needs none if it is free', async () => {
    expect(await servedBy(await draw('image', under({ image: 0.17 })))).toBe('one');
    expect(await servedBy(await draw('image', under({ prompt: 0, completion: 0, image: '0.17' })))).toBe('one');
    expect(await servedBy(await draw('noCharge', under(0)))).toBe('one');
    expect(await servedBy(await chat('noCharge', under(0)))).toBe('one');
  });

  it('of an image is that of the size and quality that are asked for', async () => {
    const low = { size: '512x512', quality: 'low' };
    expect(await servedBy(await draw('sized', { ...low, ...under({ image: 0.01 }) }))).toBe('one');
    expect(await refusalCode(await draw('sized', { ...low, quality: 'high', ...under({ image: 0.01 }) }))).toContain(
      '0.2',
    );
    expect(await refusalCode(await draw('sized', under({ image: 0.01 })))).toContain('provider.max_price.image 0.2');
  });

  it('counts beside that of tokens, and all that are above are named', async () => {
    expect(await servedBy(await draw('mixed', under({ prompt: 5, completion: 10, image: 0.17 })))).toBe('one');
    const message = await refusalCode(await draw('mixed', under({ completion: 9, image: 0.1 })));
    expect(message).toContain('provider.max_price.completion 10, provider.max_price.image 0.17');
    expect(message).not.toContain('max_price.prompt');
  });

  it('of speech is that of a million characters', async () => {
    const speak = (cap: unknown) =>
      gateway.postTo('/audio/speech', { model: 'speech', input: 'Hello', voice: 'alloy', ...under(cap) });
    expect(await refusalCode(await speak({ character: 29.9 }))).toContain('30 USD for a million characters');
    expect(await refusalCode(await speak(99))).toContain('provider.max_price.character 30');
    expect(await servedBy(await speak({ character: 30 }))).toBe('one');
  });

  it('of sound is that of a second', async () => {
    const hear = (cap: string) => {
      const form = new FormData();
      form.append('model', 'transcript');
      form.append('provider', JSON.stringify({ max_price: JSON.parse(cap) }));
      form.append('file', new Blob([new Uint8Array(Buffer.concat(spokenPieces('one two', 'wav')))]), 'a.wav');
      const headers = { authorization: `Bearer ${gateway.key}` };
      return fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: form });
    };
    expect(await refusalCode(await hear('9'))).toContain('provider.max_price.second 0.0001');
    expect(await refusalCode(await hear('{"second":0.00009}'))).toContain('0.0001 USD for a second');
    expect(await servedBy(await hear('{"second":0.0001}'))).toBe('one');
  });

  it('of a request counts even if tokens are billed as well', async () => {
    const rank = (cap: unknown) =>
      gateway.postTo('/rerank', { model: 'rank', query: 'q', documents: ['a'], ...under(cap) });
    expect(await refusalCode(await rank(5))).toContain('provider.max_price.request 0.002');
    expect(await servedBy(await rank({ request: 0.002 }))).toBe('one');
    expect(await servedBy(await chat('request', under(5)))).toBe('two');
    expect(await servedBy(await chat('request', { provider: { only: 'one', max_price: { request: 0.01 } } }))).toBe(
      'one',
    );
    // The price per request is above the cost of all tokens at the other provider.
    expect(await servedBy(await chat('request'))).toBe('two');
    expect(await servedBy(await chat('request', { provider: { sort: 'price' } }))).toBe('two');
  });
});

describe('the model auto', () => {
  let markedHarness: Harness;

  beforeAll(async () => {
    markedHarness = await startHarness({
      models: {
        'one/tiers': [at('one', { ...tokens('1'), ...tier(2_000, '10', '20') })],
        'two/flat': [at('two', tokens('5'))],
      },
      providers: { one: {}, two: {} },
    });
  });
  afterAll(() => markedHarness.stop());

  it('is the cheapest at the prices of this call', async () => {
    const modelOf = async (more: Json) => {
      const answer = await markedHarness.post(hello('auto', { max_tokens: 9, ...more }));
      expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
      return answer.headers.get('x-gw-model');
    };
    expect(await modelOf({})).toBe('one/tiers');
    expect(await modelOf(long)).toBe('two/flat');
    expect(await modelOf({ ...long, provider: { sort: 'price' } })).toBe('two/flat');
  });
});
