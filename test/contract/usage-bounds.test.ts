// Usage that cannot be (contract 6): no provider can make a call cost more than what the call could have used.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';

const upstreams = { billion: 'usage:10:1000000000', prompt: 'usage:1000000000:5', fine: 'usage:10:100' };

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      ...Object.fromEntries(
        Object.entries(upstreams).map(([id, upstream]) => [`acme/${id}`, [{ provider: 'acme', upstream }]]),
      ),
      'additive/billion': [{ provider: 'additive', upstream: upstreams.billion }],
    },
    providers: { additive: { reasoning_tokens: 'additive' } },
  });
});
afterAll(() => gateway.stop());

interface Usage {
  readonly cost_usd: string;
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
