// Images through the front door: relayed, as JSON, as events and in forms.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { imageFormFields, imageOptions, imagesSchema } from '../../shared/protocol/interfaces/images/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { literalsOf } from '../support/installed-types.ts';
import { openaiOf } from '../support/official-clients.ts';
import { type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { projectRoot } from '../support/source-files.ts';

type Json = Record<string, unknown>;

const usd = (text: string) => BigInt(Math.round(Number(text) * 1e12));
const free = { input_price_per_million: '0', output_price_per_million: '0', max_output_tokens: 4_000 };
const byImage = {
  ...free,
  image_prices: { '1024x1024/high': '0.17', '1024x1024/low': '0.01', default: '0.04' },
};
const byToken = { input_price_per_million: '5', output_price_per_million: '40', max_output_tokens: 1_000 };
/** These are the prices of GPT Image in the model list: text, input images and output images. */
const byKind = {
  ...{ input_price_per_million: '5', image_input_price_per_million: '10' },
  ...{ output_price_per_million: '40', max_output_tokens: 1_000, context_length: 100_000 },
};
const capped = newKey();
const editor = newKey();

describe('images', () => {
  let gateway: Harness;
  let client: OpenAI;
  let scriptedProvider: ScriptedProvider;
  /** The usage that the scripted provider reports. */
  let reportedUsage: Json = {};

  beforeAll(async () => {
    scriptedProvider = await startScriptedProvider((outgoing) =>
      sendJson(outgoing, JSON.stringify({ created: 1, data: [{ b64_json: 'b25l' }], usage: reportedUsage })),
    );
    gateway = await startHarness({
      models: {
        'acme/image': [{ provider: 'acme', upstream: 'echo', more: byImage }],
        'acme/formats': [
          { provider: 'acme', upstream: 'echo', more: { ...byImage, supported_params: { extras: ['image_formats'] } } },
        ],
        'acme/silent': [{ provider: 'acme', upstream: 'no-usage', more: byImage }],
        'acme/tokens': [{ provider: 'acme', upstream: 'usage:7:300', more: byToken }],
        'acme/silent-tokens': [{ provider: 'acme', upstream: 'no-usage', more: byToken }],
        'acme/edits': [{ provider: 'acme', upstream: 'usage:500:300', more: byKind }],
        'scripted/edits': [{ provider: 'scripted', upstream: 'm', more: byKind }],
        'acme/silent-edits': [{ provider: 'acme', upstream: 'no-usage', more: byKind }],
        'acme/silent-sized-edits': [
          { provider: 'acme', upstream: 'no-usage', more: { ...byKind, image_prices: byImage.image_prices } },
        ],
        'acme/failing': [
          { provider: 'acme', upstream: 'error-500', more: byImage },
          { provider: 'globex', upstream: 'echo', more: byImage },
        ],
        'acme/breaking': [{ provider: 'acme', upstream: 'error-after-chunks:1', more: byImage }],
        'acme/mute': [{ provider: 'acme', upstream: 'echo', more: { ...byImage, streaming: false } }],
        'zen/chat': [{ provider: 'zen', upstream: 'echo' }],
      },
      providers: {
        acme: { apis: ['images'] },
        globex: { apis: ['images'] },
        zen: { apis: ['chat-completions'] },
        scripted: { apis: ['images'], base_url: scriptedProvider.url },
      },
      moreWorkspaces: [
        { id: 'capped', credit_usd: '9', keys: [{ name: 'two', key: capped, spend_limit_usd: '0.34' }] },
        { id: 'editor', credit_usd: '9', keys: [{ name: 'three', key: editor, spend_limit_usd: '0.40' }] },
      ],
    });
    client = openaiOf(gateway);
  });
  beforeEach(() => gateway.simulator.clear());
  afterAll(async () => {
    await expectBalancedBooks(gateway);
    await gateway.stop();
    await scriptedProvider.stop();
  });

  const post = (body: Json, headers: Record<string, string> = {}) =>
    gateway.postTo('/images/generations', { prompt: 'A lighthouse', ...body }, headers);
  const picture = (content = 'bytes', name = 'a cat.png') => toFile(Buffer.from(content), name, { type: 'image/png' });
  const isPng = (base64: string | undefined) =>
    Buffer.from(base64 ?? '', 'base64')
      .subarray(1, 4)
      .toString() === 'PNG';

  it('are relayed: the body as it was sent but for the model, the images as they came, with the cost', async () => {
    const body = { model: 'acme/image', n: 2, size: '1024x1024', quality: 'high', moderation: 'low', a_new_field: [1] };
    const response = await post({ ...body, provider: { only: ['acme'] } });
    const answer = (await response.json()) as { data: { b64_json: string }[]; usage: Json } & Json;
    expect(response.status).toBe(200);
    expect(gateway.simulator.calls.map(({ body: requestBody }) => requestBody)).toEqual([
      { prompt: 'A lighthouse', ...body, model: 'echo' },
    ]);
    expect(answer.data.map(({ b64_json }) => isPng(b64_json))).toEqual([true, true]);
    expect(answer).toMatchObject({ size: '1024x1024', quality: 'high', usage: { cost: 0.34, cost_usd: '0.34' } });
    expect(response.headers.get('x-gw-cost')).toBe('0.34');
    expect(await gateway.lastRecord()).toMatchObject({ interfaceId: 'images', costPicoUsd: usd('0.34') });
  });

  it.each([
    [{ model: 'acme/silent', size: '1024x1024', quality: 'low', n: 3 }, '0.03', false],
    [{ model: 'acme/silent', size: '512x512' }, '0.04', false],
    // The request leaves size and quality open, and the answer reports them.
    [{ model: 'acme/image' }, '0.17', false],
    [{ model: 'acme/tokens', n: 2 }, '0.012035', false],
    [{ model: 'acme/silent-tokens', n: 2, prompt: 'x'.repeat(40) }, undefined, true],
  ])('cost what is reported, else the images that came: %j', async (body, cost, isEstimated) => {
    expect((await post(body)).status).toBe(200);
    const record = await gateway.lastRecord();
    if (cost !== undefined) expect(record?.costPicoUsd).toBe(usd(cost));
    else expect(record?.costPicoUsd).toBeGreaterThanOrEqual(2n * 1_000n * 40_000_000n);
    expect(record?.estimated === true).toBe(isEstimated);
  });

  it('reserve n times the price of their size and quality: no provider is called for a request above a limit', async () => {
    const as = { authorization: `Bearer ${capped}` };
    const high = { model: 'acme/image', size: '1024x1024', quality: 'high' };
    expect((await post({ ...high, n: 3 }, as)).status).toBe(402);
    expect(gateway.simulator.calls).toEqual([]);
    expect((await post({ ...high, n: 2 }, as)).status).toBe(200);
    expect((await post({ ...high, quality: 'low' }, as)).status).toBe(402);
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('stream their events as they came, and are charged for each image that is complete', async () => {
    const response = await post({ model: 'acme/silent', size: '512x512', stream: true, partial_images: 2 });
    const text = await response.text();
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = text.split('\n\n').filter((one) => one !== '');
    expect(events.map((one) => /^event: (\S+)/.exec(one)?.[1])).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(text).not.toContain('[DONE]');
    expect((await gateway.lastRecord())?.costPicoUsd).toBe(usd('0.04'));
  });

  it('that break while they stream end with one error, and cost what came', async () => {
    const text = await (await post({ model: 'acme/breaking', stream: true, partial_images: 3 })).text();
    expect(text.match(/event: error/g)).toHaveLength(1);
    expect(text).toContain('"code":"no_available_provider"');
    expect(text).not.toContain('image_generation.completed');
    expect((await gateway.lastRecord())?.costPicoUsd).toBe(0n);
  });

  it('are edited in a form: its files reach the provider with name and type, its fields as they were sent', async () => {
    const answer = await client.images.edit({
      model: 'acme/image',
      image: [await picture('one'), await picture('two', 'b.webp')],
      mask: await picture('mask', 'm.png'),
      prompt: 'Make it "blue"',
      n: 2,
      size: '1024x1024',
      quality: 'low',
    });
    expect(isPng(answer.data?.[1]?.b64_json)).toBe(true);
    expect(gateway.simulator.calls.map(({ body }) => body)).toEqual([
      {
        model: 'echo',
        prompt: 'Make it "blue"',
        image: [
          { file_name: 'a cat.png', type: 'image/png', bytes: 3 },
          { file_name: 'b.webp', type: 'image/png', bytes: 3 },
        ],
        mask: { file_name: 'm.png', type: 'image/png', bytes: 4 },
        n: '2',
        size: '1024x1024',
        quality: 'low',
      },
    ]);
    expect(await gateway.lastRecord()).toMatchObject({ interfaceId: 'image-edits', costPicoUsd: usd('0.02') });
  });

  const micro = 1_000_000n;
  /** An image of a form counts as at most this number of tokens. */
  const perImage = 8_192n;
  const edit = async (model: string, more: Json = {}, key = gateway.key) =>
    new OpenAI({ apiKey: key, baseURL: gateway.url, maxRetries: 0 }).images.edit({
      ...{ model, prompt: 'x'.repeat(40), image: [await picture('one'), await picture('two')] },
      ...more,
    } as OpenAI.ImageEditParamsNonStreaming);

  it('cost for the images that come in what is reported of them, and all of it if no details are', async () => {
    await edit('acme/edits');
    // The simulator reports all of it as text.
    expect(await gateway.lastRecord()).toMatchObject({
      costPicoUsd: (500n * 5n + 300n * 40n) * micro,
      estimated: false,
    });
    const usage = { input_tokens: 500, output_tokens: 300, total_tokens: 800 };
    for (const [details, cost] of [
      [{ image_tokens: 400, text_tokens: 100 }, 400n * 10n + 100n * 5n],
      [{ image_tokens: 400, text_tokens: 100, cached_tokens: 100 }, 400n * 10n + 100n * 5n],
      [undefined, 500n * 10n],
    ] as const) {
      reportedUsage = { ...usage, ...(details && { input_tokens_details: details }) };
      await edit('scripted/edits');
      expect(await gateway.lastRecord()).toMatchObject({ costPicoUsd: (cost + 300n * 40n) * micro, estimated: false });
      // The input is text alone.
      await client.images.generate({ model: 'scripted/edits', prompt: 'p' });
      expect((await gateway.lastRecord())?.costPicoUsd).toBe((500n * 5n + 300n * 40n) * micro);
    }
  });

  it('cost for the images that come in what is reserved for them, at their own price, if nothing is reported', async () => {
    await edit('acme/silent-edits', { n: 2 });
    const { costPicoUsd = 0n, promptTokens = 0 } = (await gateway.lastRecord()) ?? {};
    const text = BigInt(promptTokens) - 2n * perImage;
    expect([text > 0n, text < 100n]).toEqual([true, true]);
    expect(costPicoUsd).toBe((2n * perImage * 10n + text * 5n + 2n * 1_000n * 40n) * micro);
    await edit('acme/silent-sized-edits', { size: '1024x1024', quality: 'low' });
    const sized = (await gateway.lastRecord()) ?? { costPicoUsd: 0n, promptTokens: 0 };
    const words = BigInt(sized.promptTokens ?? 0) - 2n * perImage;
    expect(sized.costPicoUsd).toBe((2n * perImage * 10n + words * 5n) * micro + usd('0.01'));
  });

  it('reserve the highest price of their input: no provider is called for a request above a limit', async () => {
    // Two images reserve 0.16384 and their output 0.04 each; a third image needs 0.08192 more.
    const images = async (count: number) =>
      Promise.all(Array.from({ length: count }, (_, at) => picture('x', `${at}.png`)));
    await expect(edit('acme/silent-edits', { image: await images(5) }, editor)).rejects.toMatchObject({ status: 402 });
    expect(gateway.simulator.calls).toEqual([]);
    await edit('acme/silent-edits', { image: await images(4) }, editor);
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('are edited by a provider that follows one that failed, with the same form', async () => {
    const generation = await client.images
      .edit({ model: 'acme/failing', image: await picture('x'.repeat(200_000)), prompt: 'p', size: '512x512' })
      .withResponse();
    expect(generation.response.headers.get('x-gw-provider')).toBe('globex');
    const files = gateway.simulator.calls.map(({ body }) => (body as { image: Json }).image);
    expect(files).toEqual([
      { file_name: 'a cat.png', type: 'image/png', bytes: 200_000 },
      { file_name: 'a cat.png', type: 'image/png', bytes: 200_000 },
    ]);
  });

  it('are edited once under an Idempotency-Key: the same files get the same answer, others are refused', async () => {
    const idempotencyKey = 'edit-1';
    const edit = async (content: string) =>
      client.images.edit(
        { model: 'acme/image', image: await picture(content), prompt: 'p' },
        { headers: { 'Idempotency-Key': idempotencyKey } },
      );
    const first = await edit('one');
    expect(await edit('one')).toEqual(first);
    expect(gateway.simulator.calls).toHaveLength(1);
    await expect(edit('two')).rejects.toMatchObject({ status: 409 });
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it('are read by OpenAI’s SDK: whole, streamed, edited as a stream', async () => {
    const whole = await client.images.generate({ model: 'acme/image', prompt: 'p', response_format: 'url' });
    expect(whole.data?.[0]?.url).toMatch(/^data:image/);
    const types: string[] = [];
    for await (const event of await client.images.generate({ model: 'acme/image', prompt: 'p', stream: true }))
      types.push(event.type);
    const edited = await client.images.edit({
      model: 'acme/image',
      prompt: 'p',
      image: await picture(),
      stream: true,
      partial_images: 1,
    });
    for await (const event of edited) types.push(event.type);
    expect(types).toEqual(['image_generation.completed', 'image_edit.partial_image', 'image_edit.completed']);
  });

  it.each([
    [{ output_format: 'gif', frame_count: 16 }, 'output_format'],
    [{ output_format: 'svg' }, 'output_format'],
    [{ svg: { model: 'gpt-5.4' } }, 'svg'],
  ])(
    'that cost more than the price of an image are refused by name, unless the operator allows them: %j',
    async (fields, param) => {
      const openai = { 'x-gw-error-format': 'openai' };
      const refusal = await post({ model: 'acme/image', ...fields }, openai);
      const { error } = (await refusal.json()) as { error: Json };
      expect([refusal.status, error]).toMatchObject([400, { code: 'feature_unsupported', param }]);
      expect(error.message).toContain('supported_params.extras: [image_formats]');
      expect(gateway.simulator.calls).toEqual([]);
      expect((await post({ model: 'acme/formats', ...fields })).status).toBe(200);
      expect(gateway.simulator.calls[0]?.body).toMatchObject(fields);
    },
  );

  it('know every field and value that OpenAI’s own types know', () => {
    const imports =
      "import type { ImageEditParamsBase, ImageGenerateParamsBase, ImagesResponse } from 'openai/resources/images';";
    const all = '(ImageEditParamsBase & ImageGenerateParamsBase)';
    const fieldsOf = (type: string) =>
      `{ [K in keyof ${all}]-?: NonNullable<${all}[K]> extends ${type} ? K : never }[keyof ${all}]`;
    const wordsOf = (field: string) => `Extract<NonNullable<ImageGenerateParamsBase['${field}']>, string>`;
    const known = literalsOf(imports, {
      fields: `keyof ${all}`,
      numbers: fieldsOf('number'),
      flags: fieldsOf('boolean'),
      ...Object.fromEntries(
        ['quality', 'background', 'output_format', 'moderation', 'style'].map((field) => [field, wordsOf(field)]),
      ),
      edited: "NonNullable<ImageEditParamsBase['output_format']>",
    });
    const { fields = [], numbers, flags, ...words } = known;
    expect(numbers).toEqual([...imageFormFields.numbers].toSorted());
    expect(flags).toEqual([...imageFormFields.flags]);
    // The gateway reads each field, except those that change neither images nor price; a relay gets these as they are.
    const passedOn = ['image', 'markup', 'mask', 'moderation', 'safety_identifier', 'user'];
    const read = [...Object.keys(imagesSchema.shape), ...imageOptions];
    expect(fields.filter((name) => !read.includes(name))).toEqual(passedOn);
    expect(imageOptions.filter((name) => !fields.includes(name))).toEqual([]);
    expect(words).toEqual({
      quality: ['auto', 'hd', 'high', 'low', 'max', 'medium', 'standard', 'xhigh'],
      background: ['auto', 'opaque', 'transparent'],
      // An image in `gif` or `svg` costs more than one image.
      output_format: ['gif', 'jpeg', 'png', 'svg', 'webp'],
      moderation: ['auto', 'low'],
      style: ['natural', 'vivid'],
      edited: ['gif', 'jpeg', 'png', 'svg', 'webp'],
    });
  });

  it('know every event that OpenAI’s own types know, and the bounds that its documentation has', async () => {
    const imports = "import type { ImageEditStreamEvent, ImageGenStreamEvent } from 'openai/resources/images';";
    const { types } = literalsOf(imports, { types: "(ImageEditStreamEvent | ImageGenStreamEvent)['type']" });
    expect(types).toEqual([
      ...['image_edit.completed', 'image_edit.partial_image', 'image_generation.completed'],
      'image_generation.partial_image',
    ]);
    // The model list bounds prompts, edits and speech by these texts.
    const text = async (name: string) =>
      (await readFile(join(projectRoot, 'node_modules/openai/resources', name), 'utf8')).replace(/\s+\*?\s*/g, ' ');
    const images = await text('images.d.ts');
    expect(images).toContain('The maximum length is 32000 characters');
    expect(images).toContain('You can provide up to 16 images');
    expect(images).toContain('the maximum supported resolution is `3840x2160`');
    expect(await text('audio/speech.d.ts')).toContain('The maximum length is 4096 characters');
  });

  it.each([
    ['/images/generations', { model: 'acme/image' }, 'invalid_request', 'prompt'],
    ['/images/generations', { model: 'acme/image', prompt: '' }, 'invalid_request', 'prompt'],
    ['/images/generations', { model: 'acme/image', prompt: 'p', n: 0 }, 'invalid_request', 'n'],
    ['/images/generations', { model: 'acme/image', prompt: 'p', n: '2' }, 'invalid_request', 'n'],
    ['/images/generations', { model: 'acme/image', prompt: 'p', stream: 'yes' }, 'invalid_request', 'stream'],
    ['/images/generations', { model: 'acme/mute', prompt: 'p', stream: true }, 'feature_unsupported', 'stream'],
    ['/images/generations', { model: 'zen/chat', prompt: 'p' }, 'model_not_routable', 'model'],
    ['/images/generations', { model: 'acme/none', prompt: 'p' }, 'unknown_model', 'model'],
    ['/images/edits', { model: 'acme/image', prompt: 'p' }, 'invalid_request', 'image'],
  ])('%s refuses %j as %s, by the path of the field, and calls no provider', async (path, body, code, param) => {
    const response = await gateway.postTo(path, body, { 'x-gw-error-format': 'openai' });
    expect(await response.json()).toMatchObject({ error: { code, param } });
    expect(gateway.simulator.calls).toEqual([]);
  });

  const send = (form: FormData | Buffer, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'x-gw-error-format': 'openai', ...headers },
      body: form instanceof FormData ? form : new Uint8Array(form),
    });
  const formOf = (fields: Readonly<Record<string, string | Blob>>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'acme/image', prompt: 'p', ...fields }))
      form.append(name, value);
    return form;
  };
  const image = new File(['bytes'], 'a.png', { type: 'image/png' });

  it.each([
    [formOf({}), 'image'],
    [formOf({ image: 'no file' }), 'image'],
    [formOf({ image, n: 'two' }), 'n'],
    [formOf({ image, Model: 'other' }), 'model'],
    [formOf({ image, 'provider[only][]': 'nobody' }), 'provider.only[0]'],
    [formOf({ image, 'provider[unknown]': 'x' }), 'provider.unknown'],
    [formOf({ image, stream: 'maybe' }), 'stream'],
  ])('a form that is wrong is refused by the path of its field: case %#', async (form, param) => {
    const response = await send(form);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_request', param } },
    ]);
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('a form has at most 25 MiB, and what is no form is no form', async () => {
    const large = new File([Buffer.alloc(24 * 1024 * 1024)], 'l.png', { type: 'image/png' });
    expect((await send(formOf({ image: large }))).status).toBe(200);
    const tooLarge = new File([Buffer.alloc(25 * 1024 * 1024)], 'l.png');
    const refusal = await send(formOf({ image: tooLarge }));
    expect([refusal.status, await refusal.json()]).toMatchObject([413, { error: { code: 'request_too_large' } }]);
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
      const brokenForm = await send(Buffer.from('--y\r\n'), { 'content-type': type });
      expect([brokenForm.status, await brokenForm.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
    }
    expect(gateway.simulator.calls).toHaveLength(1);
    expect(gateway.composition.memory.bytesInUse()).toBe(0);
  });
});
