// Images in the other delivery: a provider answers whole although the client asked for events, or with events although
// it asked for JSON. The client gets the delivery that it asked for, as OpenAI's SDK reads it, and pays once.
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
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

type Json = Readonly<Record<string, unknown>>;

const micro = 1_000_000n;
const byToken = { input_price_per_million: '5', output_price_per_million: '40', max_output_tokens: 10_000 };
const byImage = {
  ...{ input_price_per_million: '0', output_price_per_million: '0', max_output_tokens: 10_000 },
  output_price_per_image: '0.04',
};
const shared = { background: 'opaque', output_format: 'webp', quality: 'low', size: '512x512' };
const usageOf = (images: number): Json => ({
  input_tokens: 10 * images,
  input_tokens_details: { image_tokens: 4 * images, text_tokens: 6 * images },
  output_tokens: 200 * images,
  total_tokens: 210 * images,
});
const whole = (images: readonly string[], usage?: Json): string =>
  JSON.stringify({ created: 7, ...shared, data: images.map((b64_json) => ({ b64_json })), ...(usage && { usage }) });
const events = (prefix: string, images: readonly string[], usage?: Json): string =>
  eventTexts(
    ...images.flatMap((b64_json) => [
      { type: `${prefix}.partial_image`, partial_image_index: 0, b64_json: 'cGFydA==', created_at: 7, ...shared },
      { type: `${prefix}.completed`, b64_json, created_at: 7, ...shared, ...(usage && { usage }) },
    ]),
  );
const failing = ['failing-0', 'failing-1', 'failing-2', 'failing-3'];
const pictures = ['b25l', 'dHdv'];

describe('images in the other form', () => {
  let provider: ScriptedProvider;
  let gateway: Harness;
  let client: OpenAI;
  let reply: ScriptedReply;

  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => {
      sendReply(outgoing, reply);
    });
    gateway = await startHarness({
      models: {
        tokens: [{ provider: 'acme', upstream: 'm', more: byToken }],
        images: [{ provider: 'acme', upstream: 'm', more: byImage }],
        // Each failing model has its own provider, because two failures of a provider would cool it.
        ...Object.fromEntries(
          failing.map((id) => [
            id,
            [
              { provider: id, upstream: 'm', more: byToken },
              { provider: 'other', upstream: 'echo', more: { ...byToken, output_price_per_million: '90' } },
            ],
          ]),
        ),
      },
      providers: {
        ...Object.fromEntries(['acme', ...failing].map((id) => [id, { apis: ['images'], base_url: provider.url }])),
        other: { apis: ['images'] },
      },
    });
    client = openaiOf(gateway);
  });
  afterAll(async () => {
    await gateway.settled();
    await expectBalancedBooks(gateway);
    expect(gateway.composition.memory.bytesInUse()).toBe(0);
    await gateway.stop();
    await provider.stop();
  });

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
  const collect = async (stream: AsyncIterable<unknown>) => {
    const all: Json[] = [];
    for await (const event of stream) all.push(event as Json);
    return all;
  };
  const image = () => toFile(Buffer.from('one'), 'one.png', { type: 'image/png' });
  const request = { prompt: 'p', n: 2 };
  const stream = { ...request, stream: true } as const;

  it.each([
    ['image_generation', 'application/json', async (model: string) => client.images.generate({ model, ...stream })],
    [
      'image_edit',
      'text/event-stream',
      async (model: string) => client.images.edit({ model, image: await image(), ...stream }),
    ],
  ] as const)('are events of %s if they come whole as %s, and their usage counts once', async (prefix, type, ask) => {
    reply = { type, body: whole(pictures, usageOf(2)) };
    const { answer, cost, calls } = await chargedCall(async () => collect(await ask('tokens')));
    expect(answer).toEqual(
      pictures.map((b64_json, place) => ({
        ...{ type: `${prefix}.completed`, b64_json, created_at: 7, ...shared },
        usage: place === 0 ? usageOf(2) : usageOf(0),
      })),
    );
    expect([cost, calls]).toEqual([(20n * 5n + 400n * 40n) * micro, 1]);
  });

  it.each([
    ['image_generation', 'text/event-stream', async (model: string) => client.images.generate({ model, ...request })],
    [
      'image_edit',
      'application/json',
      async (model: string) => client.images.edit({ model, image: await image(), ...request }),
    ],
  ] as const)('are whole if they come as events of %s, and usage of each is added up', async (prefix, type, ask) => {
    reply = { type, body: events(prefix, pictures, usageOf(1)) };
    const { answer, cost, calls } = await chargedCall(() => ask('tokens'));
    const data = pictures.map((b64_json) => ({ b64_json }));
    expect(answer).toMatchObject({ created: 7, ...shared, data, usage: { ...usageOf(2), cost_usd: '0.0161' } });
    expect([cost, calls]).toEqual([(20n * 5n + 400n * 40n) * micro, 1]);
  });

  it('cost by the image what came, if no usage is reported', async () => {
    reply = jsonReply(whole(pictures));
    const streamResult = await chargedCall(async () =>
      collect(await client.images.generate({ model: 'images', ...stream })),
    );
    expect(streamResult.answer.map(({ usage }) => usage)).toEqual([undefined, undefined]);
    reply = { type: 'text/event-stream', body: events('image_generation', ['b25l']) };
    const result = await chargedCall(() => client.images.generate({ model: 'images', ...request }));
    expect(result.answer.data).toEqual([{ b64_json: 'b25l' }]);
    expect([streamResult.cost, result.cost]).toEqual([80_000n * micro, 40_000n * micro]);
  });

  it('say what a provider leaves open as open, and keep what else they say of an image', async () => {
    const data = [{ b64_json: 'b25l', revised_prompt: 'A "cat"' }, { url: 'https://images.example/2' }];
    reply = jsonReply({ created: 7, data });
    const events = await collect(await client.images.generate({ model: 'images', ...stream }));
    const open = { background: 'auto', output_format: 'png', quality: 'auto', size: 'auto', created_at: 7 };
    expect(events).toEqual(data.map((item) => ({ type: 'image_generation.completed', ...item, ...open })));
  });

  it('are those of their own items, whatever fields these and their answer have beside them', async () => {
    const data = [{ b64_json: 'b25l', type: 'image', usage: { output_tokens: 9_000 }, created_at: 'now', size: '8x8' }];
    reply = {
      type: 'application/json',
      body: JSON.stringify({ b64_json: 'bm9uZQ==', created: 7, ...shared, data }),
    };
    const { answer, cost } = await chargedCall(async () =>
      collect(await client.images.generate({ model: 'images', ...stream })),
    );
    expect(answer).toEqual([
      { type: 'image_generation.completed', b64_json: 'b25l', created_at: 7, ...shared, size: '8x8' },
    ]);
    expect(cost).toBe(40_000n * micro);
  });

  it('cost what is reported of all of them, if more come than were asked for', async () => {
    reply = jsonReply(whole(pictures, usageOf(2)));
    const { answer, cost } = await chargedCall(async () =>
      collect(await client.images.generate({ model: 'tokens', prompt: 'p', stream: true })),
    );
    expect(answer).toHaveLength(1);
    expect(cost).toBe((20n * 5n + 400n * 40n) * micro);
  });

  it('of tens of megabytes go through in both forms', async () => {
    const large = 'A'.repeat(8 * 1024 * 1024);
    reply = jsonReply(whole([large, large, large]));
    const imageEvents = await collect(
      await client.images.generate({ model: 'images', prompt: 'p', n: 3, stream: true }),
    );
    expect(imageEvents.map(({ b64_json }) => (b64_json as string).length)).toEqual([
      large.length,
      large.length,
      large.length,
    ]);
    reply = { type: 'text/event-stream', body: events('image_generation', [large, large, large]) };
    const images = await client.images.generate({ model: 'images', prompt: 'p', n: 3 });
    expect(images.data?.map(({ b64_json }) => b64_json?.length)).toEqual([large.length, large.length, large.length]);
  });

  it.each([
    ['failing-0', 'application/json', '{"error":{"message":"overloaded","type":"server_error","code":"server_error"}}'],
    ['failing-1', 'application/json', whole(pictures).slice(0, -5)],
    ['failing-2', 'text/event-stream', 'event: error\ndata: {"type":"error","error":{"message":"overloaded"}}\n\n'],
    ['failing-3', 'text/event-stream', events('image_generation', pictures).slice(0, 60)],
  ])(
    'that fail in the other form are sent to the next provider, and pay nothing: %s, %s',
    async (model, type, text) => {
      reply = { type, body: text };
      gateway.simulator.clear();
      const { answer, cost, calls } = await chargedCall(async () => {
        const body = { model, prompt: 'p', stream: type === 'application/json' };
        const response = await gateway.postTo('/images/generations', body);
        await response.text();
        return response;
      });
      expect([answer.status, answer.headers.get('x-gw-provider')]).toEqual([200, 'other']);
      expect([calls, gateway.simulator.calls.length]).toEqual([1, 1]);
      const record = (await gateway.records()).toSorted((a, b) => a.arrivedAtMs - b.arrivedAtMs).at(-1);
      expect(record).toMatchObject({ provider: 'other', costPicoUsd: cost });
    },
  );

  it('are replayed in the form that was asked for', async () => {
    reply = jsonReply(whole(pictures, usageOf(2)));
    const body = { model: 'tokens', prompt: 'p', n: 2, stream: true };
    const texts = [];
    for (let times = 0; times < 2; times += 1) {
      const response = await gateway.postTo('/images/generations', body, { 'idempotency-key': 'images-1' });
      texts.push([response.headers.get('content-type'), await response.text()]);
      await gateway.settled();
    }
    expect(texts[1]).toEqual(texts[0]);
    expect(texts[0]?.[0]).toContain('text/event-stream');
  });
});
