// Usage that cannot be, or is not reported: no provider can make a call cost more than what the call could have used, and
// no estimate of the gateway exceeds what the call holds.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';
import { png } from '../support/png.ts';

const poor = newKey();
const upstreams = { billion: 'usage:10:1000000000', prompt: 'usage:1000000000:5', fine: 'usage:10:100' };

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      ...Object.fromEntries(
        Object.entries(upstreams).map(([id, upstream]) => [`acme/${id}`, [{ provider: 'acme', upstream }]]),
      ),
      'additive/billion': [{ provider: 'additive', upstream: upstreams.billion }],
      'acme/unreported': [{ provider: 'acme', upstream: 'no-usage' }],
      'acme/limited': [{ provider: 'acme', upstream: 'no-usage', more: { rate_limit_tpm: 40_000 } }],
    },
    // An audio call must be admitted, so that its estimate is seen.
    modelMembers: { 'acme/unreported': { modalities: ['text', 'image', 'audio'] } },
    service: { queue_ms: 0 },
    moreWorkspaces: [{ id: 'poor', credit_usd: '1', keys: [{ name: 'poor', key: poor }] }],
    providers: { additive: { reasoning_tokens: 'additive' } },
  });
});
afterAll(() => gateway.stop());

interface Usage {
  readonly cost_usd: string;
  readonly prompt_tokens: number;
  readonly estimated?: boolean;
  readonly completion_tokens: number;
}

async function usageOf(model: string, more: Record<string, unknown>): Promise<Usage> {
  const response = await gateway.post(hello(model, { usage: { include: true }, ...more }));
  const text = await response.text();
  expect(response.status).toBe(200);
  const json = more.stream === true ? (dataLines(text).at(-2) ?? '') : text;
  return (JSON.parse(json) as { usage: Usage }).usage;
}

/** Input 1 USD, output 2 USD per million tokens. */
const usd = (prompt: number, completion: number) => String((prompt + 2 * completion) / 1_000_000);

describe.each([false, true])('another name of the output bound, stream %s', (stream) => {
  it.each([
    [{ max_tokens: 1, n_predict: 4_000 }, usd(10, 4_000)],
    [{ max_tokens: 1, max_output_tokens: 300, max_length: 20 }, usd(10, 300)],
    [{ max_new_tokens: 50 }, usd(10, 50)],
    [{ max_tokens: 50, max_length: null }, usd(10, 50)],
    [{ max_tokens: 1, n_predict: -1 }, usd(10, 4_096)],
    [{ max_tokens: 5_000, n_predict: -1 }, usd(10, 5_000)],
    [{ max_length: 'long' }, usd(10, 4_096)],
  ])('is billed as the bound that it is: %j', async (members, cost) => {
    const usage = await usageOf('acme/billion', { ...members, stream });
    expect(Number(usage.cost_usd)).toBe(Number(cost));
  });

  it.each([
    ['n_predict', { max_tokens: 1, n_predict: 50_000_001 }, '100.0001'],
    ['an open bound', { max_tokens: 1, n_predict: -1, n: 128 }, '1.0486'],
  ])('is held before a provider is called: %s', async (_name, members, usd) => {
    await gateway.settled();
    const calls = gateway.simulator.calls.length;
    const response = await gateway.post(hello('acme/fine', { ...members, stream }), {
      authorization: `Bearer ${poor}`,
    });
    const { message } = await expectError(response, 402, 'PAYMENT_REQUIRED');
    expect(message).toContain(`may cost ${usd}`);
    expect(gateway.simulator.calls).toHaveLength(calls);
  });
});

describe.each([false, true])('a usage report beyond what the call can have used, stream %s', (stream) => {
  it.each([
    ['completion tokens, at what was asked for', 'acme/billion', { max_tokens: 100 }, usd(10, 100)],
    ['completion tokens, at what was asked for times n', 'acme/billion', { max_tokens: 100, n: 3 }, usd(10, 300)],
    ['completion tokens, at the limit of the entry', 'acme/billion', {}, usd(10, 4_096)],
    ['completion tokens with additive reasoning', 'additive/billion', { max_tokens: 100 }, usd(10, 4_196)],
    ['prompt tokens, at the context length', 'acme/prompt', { max_tokens: 100 }, usd(128_000, 5)],
  ])('is billed at the bound, and flagged: %s', async (_name, model, more, cost) => {
    const usage = await usageOf(model, { ...more, stream });
    expect(Number(usage.cost_usd)).toBe(Number(cost));
    expect(usage.estimated).toBe(true);
  });

  it('is billed as reported where it is at the bound', async () => {
    const usage = await usageOf('acme/fine', { max_tokens: 100, stream });
    expect(Number(usage.cost_usd)).toBe(Number(usd(10, 100)));
    expect(usage).not.toHaveProperty('estimated');
  });
});

describe.each([false, true])('a call whose provider reports no usage, stream %s', (stream) => {
  const saying = (...content: object[]) => ({ messages: [{ role: 'user', content }], max_tokens: 10, stream });
  const image = { type: 'image_url', image_url: { url: png(100, 100, 1_000_000) } };

  it('is billed for an image by the tokens that were held for it, not by its bytes', async () => {
    const usage = await usageOf('acme/unreported', saying(image));
    expect(usage).toMatchObject({ estimated: true });
    // One tile; the text around it is less than 400 bytes.
    expect(usage.prompt_tokens).toBeGreaterThanOrEqual(8_500);
    expect(usage.prompt_tokens).toBeLessThan(8_600);
  });

  it('is billed for audio what was held for it: the context length', async () => {
    const usage = await usageOf('acme/unreported', saying({ type: 'input_audio', input_audio: { data: 'AAAA' } }));
    expect(usage).toMatchObject({ estimated: true, prompt_tokens: 128_000 });
  });

  it('takes no more of the tokens per minute of its provider', async () => {
    await usageOf('acme/limited', saying(image));
    await gateway.settled();
    expect((await gateway.post(hello('acme/limited', { max_tokens: 10 }))).status).toBe(200);
  });
});

describe("the operator's log", () => {
  const namedCalls = () =>
    gateway.logLines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event }) => event === 'charge_over_hold');

  it('names a charge for more input than the body can hold, and no other', async () => {
    await gateway.settled();
    const before = namedCalls().length;
    await usageOf('acme/fine', { max_tokens: 100 });
    await usageOf('acme/unreported', { max_tokens: 100 });
    await gateway.settled();
    expect(namedCalls()).toHaveLength(before);
    const response = await gateway.post(hello('acme/prompt', { max_tokens: 100 }));
    await gateway.settled();
    expect(namedCalls().slice(before)).toEqual([
      expect.objectContaining({
        correlation_id: response.headers.get('x-request-id'),
        workspace_id: 'team',
        provider: 'acme',
        model: 'acme/prompt',
        input_tokens: 128_000,
        cost_usd: '0.12801',
      }),
    ]);
  });
});
