// The cheapest provider comes first when a call costs by images, characters, seconds or requests: the order is by the
// cost of this call.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { spokenPieces } from '../../infra/local/simulator/formats/openai-speech.ts';
import { expectError } from '../support/expect-error.ts';
import type { Route } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const free = { input_price_per_million: '0', output_price_per_million: '0', max_output_tokens: 2_000 };
const at = (provider: string, more: Json): Route => ({ provider, upstream: 'echo', more: { ...free, ...more } });
const apis = ['images', 'speech', 'transcriptions', 'rerank', 'chat-completions'];
const sized = (low: string, high: string) => ({ image_prices: { '512x512/low': low, '512x512/high': high } });

describe('the order of providers', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        image: [at('dear', { output_price_per_image: '0.08' }), at('cheap', { output_price_per_image: '0.02' })],
        sized: [at('dear', sized('0.01', '0.30')), at('cheap', sized('0.02', '0.20'))],
        tokens: [
          at('dear', {
            input_price_per_million: '1',
            output_price_per_million: '1',
            image_output_price_per_million: '40',
          }),
          at('cheap', {
            input_price_per_million: '2',
            output_price_per_million: '2',
            image_output_price_per_million: '10',
          }),
        ],
        both: [
          at('dear', { output_price_per_image: '0.08' }),
          at('cheap', { output_price_per_million: '2', max_output_tokens: 60_000, output_price_per_image: '0.02' }),
        ],
        speech: [
          at('dear', { input_price_per_character: '0.00003' }),
          at('cheap', { input_price_per_character: '0.00001' }),
        ],
        transcript: [
          at('dear', { input_price_per_second: '0.0002' }),
          at('cheap', { input_price_per_second: '0.0001' }),
        ],
        order: [at('dear', { price_per_request: '0.001' }), at('cheap', { input_price_per_million: '1' })],
        chat: [at('cheap', { input_price_per_million: '5', output_price_per_million: '5' })],
      },
      providers: { dear: { apis }, cheap: { apis } },
    });
  });
  beforeEach(() => gateway.simulator.clear());
  afterAll(() => gateway.stop());

  const servedBy = async (answer: Response) => {
    expect([answer.status, await answer.arrayBuffer()]).toEqual([200, expect.anything()]);
    return answer.headers.get('x-gw-provider');
  };
  const draw = async (body: Json) => servedBy(await gateway.postTo('/images/generations', { prompt: 'p', ...body }));

  it('of images is that of their price, whatever the catalogue’s order, even if a client sorts by price', async () => {
    expect(await draw({ model: 'image' })).toBe('cheap');
    expect(await draw({ model: 'image', provider: { sort: 'price' } })).toBe('cheap');
    expect(await draw({ model: 'image', provider: { order: ['dear'] } })).toBe('dear');
    expect(gateway.simulator.calls).toHaveLength(3);
  });

  it('of images is that of the size and quality that are asked for, and of tokens of images', async () => {
    expect(await draw({ model: 'sized', size: '512x512', quality: 'low' })).toBe('dear');
    expect(await draw({ model: 'sized', size: '512x512', quality: 'high' })).toBe('cheap');
    expect(await draw({ model: 'tokens' })).toBe('cheap');
  });

  it('of images that may be billed by tokens too is what the call reserves', async () => {
    // The reservation is 60,000 tokens of output at 2 USD a million, against an image for 0.08 USD.
    expect(await draw({ model: 'both' })).toBe('dear');
    expect(await draw({ model: 'both', provider: { sort: 'price' } })).toBe('dear');
    expect(gateway.simulator.calls).toHaveLength(2);
  });

  it('of speech and transcriptions is that of characters and seconds', async () => {
    const speech = await gateway.postTo('/audio/speech', { model: 'speech', input: 'Hello', voice: 'alloy' });
    expect(await servedBy(speech)).toBe('cheap');
    const form = new FormData();
    form.append('model', 'transcript');
    form.append('file', new Blob([new Uint8Array(Buffer.concat(spokenPieces('one two', 'wav')))]), 'a.wav');
    const headers = { authorization: `Bearer ${gateway.key}` };
    const transcription = await fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: form });
    expect(await servedBy(transcription)).toBe('cheap');
  });

  it('is the one whose price the list of models shows', async () => {
    const { data } = (await (await gateway.get('/models')).json()) as { data: ({ id: string } & Json)[] };
    const listedModel = (id: string) => data.find((model) => model.id === id);
    expect(listedModel('image')).toMatchObject({ output_price_per_image: '0.02' });
    expect(listedModel('speech')).toMatchObject({ input_price_per_character: '0.00001' });
    expect(listedModel('transcript')).toMatchObject({ input_price_per_second: '0.0001' });
    expect(listedModel('tokens')).toMatchObject({ input_price_per_million: '2' });
  });

  it('of reranking is that of the documents: tokens cost less for few of them, a request for many', async () => {
    const rank = async (documents: readonly string[]) =>
      servedBy(await gateway.postTo('/rerank', { model: 'order', query: 'q', documents }));
    expect(await rank(['one', 'two'])).toBe('cheap');
    expect(await rank(new Array(90).fill('a document of some words'))).toBe('dear');
  });
});

describe('the model auto', () => {
  let gateway: Harness;

  beforeAll(async () => {
    // No model names an interface, so each has all interfaces of its provider.
    gateway = await startHarness({
      models: {
        'acme/chat': [at('acme', { input_price_per_million: '5', output_price_per_million: '5' })],
        'acme/dear-image': [at('acme', { output_price_per_image: '0.08' })],
        'acme/image': [at('acme', { output_price_per_image: '0.02' })],
        'acme/speech': [at('acme', { input_price_per_character: '0.00001' })],
        'acme/transcript': [at('acme', { input_price_per_second: '0.0001' })],
        'acme/order': [at('acme', { price_per_request: '0.001' })],
        'acme/vectors': [at('acme', { input_price_per_million: '0.1', apis: ['embeddings'] })],
      },
      providers: { acme: { apis: [...apis, 'embeddings'] } },
    });
  });
  beforeEach(() => gateway.simulator.clear());
  afterAll(() => gateway.stop());

  it.each([
    ['/chat/completions', hello('auto'), 'acme/chat'],
    ['/images/generations', { model: 'auto', prompt: 'p' }, 'acme/image'],
    ['/images/generations', { model: 'auto', prompt: 'p', provider: { sort: 'price' } }, 'acme/image'],
    ['/audio/speech', { model: 'auto', input: 'Hello', voice: 'alloy' }, 'acme/speech'],
    ['/rerank', { model: 'auto', query: 'q', documents: ['one'] }, 'acme/order'],
    ['/embeddings', { model: 'auto', input: 'Hello' }, 'acme/vectors'],
  ])('is at %s the cheapest that does it, and none that does something else', async (path, body, model) => {
    const answer = await gateway.postTo(path, body);
    await answer.arrayBuffer();
    expect([answer.status, answer.headers.get('x-gw-model')]).toEqual([200, model]);
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('is refused if no entry has the interface', async () => {
    await expectError(
      await gateway.postTo('/moderations', { model: 'auto', input: 'Hello' }),
      400,
      'model_not_routable',
    );
    expect(gateway.simulator.calls).toEqual([]);
  });
});
