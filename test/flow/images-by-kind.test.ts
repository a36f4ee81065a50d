// Images of providers with a form of their own, through the front door.
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { openaiOf } from '../support/official-clients.ts';

type Json = Record<string, unknown>;

const usd = (text: string) => BigInt(Math.round(Number(text) * 1e12));
const free = { input_price_per_million: '0', output_price_per_million: '0', max_output_tokens: 2_000 };
const byImage = { ...free, apis: ['images'], image_prices: { '1024x1024/standard': '0.04', default: '0.06' } };
const byToken = {
  apis: ['images'],
  max_output_tokens: 2_000,
  input_price_per_million: '0.3',
  output_price_per_million: '2.5',
  image_output_price_per_million: '30',
};
const canvas = (upstream: string) => [{ provider: 'bedrock', upstream, more: byImage }];
const gemini = (upstream: string, provider = 'google') => [{ provider, upstream, more: byToken }];

describe('images of Gemini and Nova Canvas', () => {
  let gateway: Harness;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        canvas: canvas('amazon.nova-canvas-v1:0'),
        gemini: gemini('gemini-2.5-flash-image/usage:10:1290'),
        vertex: gemini('gemini-2.5-flash-image', 'vertex'),
        'gemini-silent': gemini('gemini-2.5-flash-image/no-usage'),
        'gemini-part-fails': gemini('gemini-2.5-flash-image/scripted:2'),
        'gemini-fails': [
          ...gemini('gemini-2.5-flash-image/error-500'),
          { provider: 'bedrock', upstream: 'amazon.nova-canvas-v1:0', more: byImage },
        ],
        'gemini-blocks': gemini('gemini-2.5-flash-image/blocked-prompt'),
        chat: gemini('gemini-2.5-flash'),
      },
      providers: {
        bedrock: { kind: 'bedrock', apis: ['converse', 'images'] },
        google: { kind: 'google', apis: ['generate-content', 'images'] },
        vertex: { kind: 'vertex', apis: ['generate-content', 'images'] },
      },
    });
    client = openaiOf(gateway);
  });
  beforeEach(() => gateway.simulator.clear());
  afterAll(async () => {
    await gateway.settled();
    await expectBalancedBooks(gateway);
    await gateway.stop();
  });

  const post = (body: Json) =>
    gateway.postTo('/images/generations', { prompt: 'A cat', ...body }, { 'x-gw-error-format': 'openai' });
  const isPng = (base64: string | undefined) =>
    Buffer.from(base64 ?? '', 'base64')
      .subarray(1, 4)
      .toString() === 'PNG';
  const picture = (name: string) => toFile(Buffer.from(name), name, { type: 'image/png' });

  it.each([
    ['canvas', { n: 7, size: '1024x1024', quality: 'standard' }, 2, '0.28'],
    ['canvas', { n: 2 }, 1, '0.12'],
    ['gemini', { n: 3, size: '1024x1024' }, 3, '0.116109'],
  ])('%s makes %j in %d calls, for one bill', async (model, fields, calls, cost) => {
    const { data, response } = await client.images
      .generate({ model, prompt: 'A cat', ...fields } as never)
      .withResponse();
    const images = (data as OpenAI.ImagesResponse).data ?? [];
    expect(images.map(({ b64_json }) => isPng(b64_json))).toEqual(new Array(fields.n).fill(true));
    expect(gateway.simulator.calls).toHaveLength(calls);
    expect(response.headers.get('x-gw-cost')).toBe(cost);
    expect(await gateway.lastRecord()).toMatchObject({ costPicoUsd: usd(cost), estimated: false });
  });

  it('say to each provider what was asked for, in its words', async () => {
    await post({ model: 'canvas', size: '1280x720', quality: 'premium', n: 2, moderation: 'low' });
    const asksForNothing = { input_fidelity: 'low', output_compression: 100, style: null, output_format: 'png' };
    const plain = await post({
      model: 'gemini',
      size: '1024x1024',
      user: 'u',
      safety_identifier: 's',
      ...asksForNothing,
    });
    expect(plain.headers.get('x-gw-left-out')).toBe('user,safety_identifier');
    expect(gateway.simulator.calls.map(({ body }) => body)).toMatchObject([
      {
        taskType: 'TEXT_IMAGE',
        textToImageParams: { text: 'A cat' },
        imageGenerationConfig: { width: 1280, height: 720, numberOfImages: 2, quality: 'premium' },
      },
      { generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '1:1' } } },
    ]);
  });

  it.each(['canvas', 'gemini', 'vertex'])('%s edits the files of a form', async (model) => {
    const answer = await client.images.edit({
      model,
      prompt: 'Blue',
      image: [await picture('one'), await picture('two')],
    });
    expect(isPng(answer.data?.[0]?.b64_json)).toBe(true);
    const sentText = JSON.stringify(gateway.simulator.calls[0]?.body);
    for (const name of ['one', 'two']) expect(sentText).toContain(Buffer.from(name).toString('base64'));
    expect(sentText).toContain('Blue');
  });

  it.each([
    ['canvas', { quality: 'high' }, 'quality'],
    ['canvas', { stream: true }, 'stream'],
    ['canvas', { output_format: 'webp' }, 'output_format'],
    ['gemini', { size: '1536x1024' }, 'size'],
    ['gemini', { quality: 'low' }, 'quality'],
    ['gemini', { background: 'transparent' }, 'background'],
    ['gemini', { response_format: 'url' }, 'response_format'],
    ['canvas', { style: 'vivid' }, 'style'],
    ['gemini', { complexity: 'high' }, 'complexity'],
    ['gemini', { input_fidelity: 'high' }, 'input_fidelity'],
    ['canvas', { output_format: 'gif', frame_count: 4 }, 'output_format'],
    ['canvas', { output_compression: 50 }, 'output_compression'],
    ['gemini', { svg: { model: 'gpt-5.4' } }, 'svg'],
    ['chat', {}, 'model'],
  ])('%s refuses %j by name, and is not called', async (model, fields, param) => {
    const response = await post({ model, ...fields });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'feature_unsupported', param } },
    ]);
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('refuses a mask by name: each of them means another thing by one', async () => {
    const request = { model: 'canvas', prompt: 'p', image: await picture('one'), mask: await picture('mask') };
    await expect(client.images.edit(request)).rejects.toMatchObject({ status: 400, code: undefined });
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('estimates what a provider does not report, never above what was reserved', async () => {
    expect((await post({ model: 'gemini-silent', n: 2 })).status).toBe(200);
    const record = await gateway.lastRecord();
    expect(record).toMatchObject({ estimated: true });
    expect(record?.costPicoUsd).toBeGreaterThanOrEqual(2n * 2_000n * 30_000_000n);
  });

  it('falls back before anything was made, and reports a prompt that was blocked', async () => {
    const response = await post({ model: 'gemini-fails', provider: { order: ['google', 'bedrock'] } });
    expect([response.status, response.headers.get('x-gw-provider')]).toEqual([200, 'bedrock']);
    const blocked = await post({ model: 'gemini-blocks' });
    expect([blocked.status, await blocked.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_request', reason: 'content_policy_violation' } },
    ]);
  });
});
