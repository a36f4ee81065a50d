// Models of the list for images, speech, transcripts, ranking and moderation: a gateway file names them, and needs
// nothing else.
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { spokenPieces } from '../../infra/local/simulator/formats/openai-speech.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { applyGatewayText } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { openaiOf } from '../support/official-clients.ts';

const micro = 1_000_000n;

describe('models that make something else than text', () => {
  const ids = {
    openai: ['gpt-image-1', 'tts-1', 'gpt-4o-mini-tts', 'whisper-1', 'gpt-4o-transcribe', 'omni-moderation-latest'],
    cohere: ['rerank-v3.5'],
    groq: ['whisper-large-v3'],
    bedrock: ['cohere.rerank-v3-5:0'],
  };
  let gateway: Harness;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await startHarness({ models: {} });
    client = openaiOf(gateway);
    const { urlOf } = gateway.simulator;
    const providers = Object.keys(ids).map(
      (kind) => `{ id: ${kind}, kind: ${kind}, base_url: "${urlOf(kind)}", auth: none }`,
    );
    const models = Object.entries(ids).flatMap(([kind, names]) =>
      names.map((name) => `{ id: "${name}", providers: [{ provider: ${kind} }] }`),
    );
    const file = `providers: [${providers.join(', ')}]\nmodels: [${models.join(', ')}]`;
    await applyGatewayText(gateway.composition, file);
  });
  afterAll(async () => {
    await gateway.settled();
    await expectBalancedBooks(gateway);
    await gateway.stop();
  });

  async function costOf(ask: () => Promise<unknown>): Promise<bigint> {
    await gateway.settled();
    const { available } = await gateway.credit();
    await ask();
    await gateway.settled();
    return available - (await gateway.credit()).available;
  }

  it('need no written price: the list of models says what each does, and what it costs', async () => {
    const { data } = (await (await gateway.get('/models')).json()) as { data: { id: string }[] };
    const listedById = Object.fromEntries(data.map((model) => [model.id, model]));
    expect(listedById['gpt-image-1']).toMatchObject({
      apis: ['images'],
      input_price_per_million: '5.00',
      output_price_per_million: '40.00',
      image_prices: { '1024x1024/low': '0.011', '1536x1024/high': '0.25' },
      routable: true,
    });
    expect(listedById['tts-1']).toMatchObject({ apis: ['speech'], input_price_per_character: '0.000015' });
    expect(listedById['whisper-1']).toMatchObject({ apis: ['transcriptions'], input_price_per_second: '0.0001' });
    expect(listedById['whisper-large-v3']).toMatchObject({ input_price_per_second: '0.00003083' });
    expect(listedById['gpt-4o-transcribe']).toMatchObject({
      apis: ['transcriptions'],
      input_price_per_million: '2.50',
    });
    expect(listedById['omni-moderation-latest']).toMatchObject({
      apis: ['moderations'],
      input_price_per_million: '0.00',
    });
    expect(listedById['rerank-v3.5']).toMatchObject({ apis: ['rerank'], price_per_request: '0.002' });
    expect(listedById['cohere.rerank-v3-5:0']).toMatchObject({ apis: ['rerank'], price_per_request: '0.002' });
  });

  it('cost what the list says, by what each reports or else by what was asked for', async () => {
    const request = { model: 'gpt-image-1', prompt: 'p', n: 2, size: '1024x1024', quality: 'low' } as const;
    let usage: OpenAI.ImagesResponse.Usage | undefined;
    const images = await costOf(async () => {
      usage = (await client.images.generate(request)).usage;
    });
    expect(images).toBe((BigInt(usage?.input_tokens ?? 0) * 5n + BigInt(usage?.output_tokens ?? 0) * 40n) * micro);
    expect(usage?.output_tokens).toBeGreaterThan(0);
    const speech = { voice: 'alloy', input: 'Hello there' } as const;
    expect(await costOf(() => client.audio.speech.create({ ...speech, model: 'tts-1' }))).toBe(11n * 15n * micro);
    // The provider reports no usage for bytes: 16 tokens of sound, and three of the text.
    const byToken = await costOf(() => client.audio.speech.create({ ...speech, model: 'gpt-4o-mini-tts' }));
    expect([byToken >= 16n * 12n * micro, byToken < 16n * 12n * micro + 100n * micro]).toEqual([true, true]);
    const file = await toFile(Buffer.concat(spokenPieces(new Array(40).fill('word').join(' '), 'wav')), 'a.wav');
    let seconds = 0;
    const transcript = await costOf(async () => {
      const { usage: transcriptionUsage } = await client.audio.transcriptions.create({ model: 'whisper-1', file });
      if (transcriptionUsage?.type === 'duration') ({ seconds } = transcriptionUsage);
    });
    expect(seconds).toBeGreaterThan(0);
    expect(transcript).toBe(BigInt(seconds * 1_000) * (micro / 10n));
    expect(await costOf(() => client.moderations.create({ input: 'Hello' }))).toBe(0n);
    const order = { query: 'q', documents: ['one', 'two'] };
    for (const [model, cost] of [
      ['rerank-v3.5', 2_000n],
      ['cohere.rerank-v3-5:0', 2_000n],
    ] as const) {
      expect(await costOf(() => gateway.postTo('/rerank', { model, ...order }))).toBe(cost * micro);
    }
  });

  it('are no models that answer with text: neither in their own name nor as the cheapest of all', async () => {
    const messages = [{ role: 'user', content: 'Hello' }];
    for (const model of ['tts-1', 'gpt-image-1', 'auto']) {
      const answer = await gateway.post({ model, messages });
      expect([model, answer.status, await answer.json()]).toMatchObject([model, 400, { error: 'model_not_routable' }]);
    }
  });
});
