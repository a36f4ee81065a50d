import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { parseUsd } from '../../shared/foundation/money/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const tiers = [
  {
    above_prompt_tokens: 200_000,
    input_price_per_million: '10',
    output_price_per_million: '20',
    cached_input_price_per_million: '1',
    cache_write_input_price_per_million: '12',
  },
];
const long = { context_length: 1_000_000, price_tiers: tiers, cached_input_price_per_million: '0.5' };

describe('what an entry says of prices and bounds', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({
      service: { default_output_tokens: 4_000 },
      providers: {
        acme: { apis: ['chat-completions', 'responses', 'embeddings'] },
        like: { kind: 'openai', apis: ['chat-completions', 'responses'] },
        gemini: { apis: ['generate-content'] },
      },
      moreWorkspaces: [{ id: 'poor', credit_usd: '9', keys: [{ name: 'k', key: poorKey, spend_limit_usd: '0.002' }] }],
      models: {
        below: [{ provider: 'acme', upstream: 'usage:200000:1000:50000:0:30000', more: long }],
        above: [{ provider: 'acme', upstream: 'usage:200001:1000:50000:0:30000', more: long }],
        plain: [
          {
            provider: 'acme',
            upstream: 'usage:200001:1000:50000:0:30000',
            more: {
              ...long,
              price_tiers: [
                { above_prompt_tokens: 100_000, input_price_per_million: '9', output_price_per_million: '9' },
                { above_prompt_tokens: 200_000, input_price_per_million: '10', output_price_per_million: '20' },
              ],
            },
          },
        ],
        held: [
          { provider: 'acme', upstream: 'echo', more: { price_tiers: [{ ...tiers[0], above_prompt_tokens: 2_000 }] } },
        ],
        bounded: [{ provider: 'acme', upstream: 'echo', more: { default_output_tokens: 1_000 } }],
        named: [{ provider: 'like', upstream: 'echo', more: { default_output_tokens: 1_000 } }],
        translated: [{ provider: 'gemini', upstream: 'echo', more: { default_output_tokens: 1_000 } }],
        service: [{ provider: 'acme', upstream: 'echo' }],
        small: [{ provider: 'acme', upstream: 'echo', more: { max_output_tokens: 50 } }],
        vectors: [{ provider: 'acme', upstream: 'echo', more: { apis: ['embeddings'] } }],
      },
    });
  });
  afterAll(async () => {
    await expectBalancedBooks(harness);
    await harness.stop();
  });

  const costOf = async (model: string) => {
    const answer = await harness.post(hello(model));
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { usage: { cost_usd: string } }).usage.cost_usd;
  };
  /** What the provider was sent. */
  async function sentBody(body: object, path = '/chat/completions'): Promise<Record<string, unknown>> {
    harness.simulator.clear();
    const answer = await send(harness, body, path, harness.key);
    expect(answer.status).toBe(200);
    return harness.simulator.calls[0]?.body as Record<string, unknown>;
  }

  it('a prompt of exactly the bound of a tier is priced below it, and one token more the whole call by the tier', async () => {
    // 120,000 at 1, 50,000 cached at 0.5, 30,000 written at the input price, 1,000 out at 2.
    expect(await costOf('below')).toBe('0.177');
    // 120,001 at 10, 50,000 cached at 1, 30,000 written at 12, 1,000 out at 20.
    expect(await costOf('above')).toBe('1.63001');
    // Of several tiers the last that is reached, and what it does not price is input: 200,001 at 10, 1,000 out at 20.
    expect(await costOf('plain')).toBe('2.02001');
  });

  it('a hold takes the dearest tier that its input can reach: at the bound that below it, one token more that above', async () => {
    const neededFor = async (characters: number) => {
      const messages = [{ role: 'user', content: 'x'.repeat(characters) }];
      const answer = await poor(harness, { model: 'held', messages, max_tokens: 1_000 });
      return parseUsd(/may cost ([\d.]+) USD/.exec(answer.message)?.[1] ?? '') ?? 0n;
    };
    const heldOutput = 1_000n * 2_000_000n;
    // What a prompt of this length counts as at the most; each character more is one token more.
    const tokensOf1000 = ((await neededFor(1_000)) - heldOutput) / 1_000_000n;
    const atBound = 1_000 + 2_000 - Number(tokensOf1000);
    expect(await neededFor(atBound)).toBe(2_000n * 1_000_000n + heldOutput);
    // The dearest of its input prices is that of what is written into a cache.
    expect(await neededFor(atBound + 1)).toBe(2_001n * 12_000_000n + 1_000n * 20_000_000n);
  });

  it('a call without a bound is sent the default one, under the name that the kind of its provider takes', async () => {
    expect(await sentBody(hello('bounded'))).toMatchObject({ max_tokens: 1_000 });
    const named = await sentBody(hello('named'));
    expect(named).toMatchObject({ max_completion_tokens: 1_000 });
    expect(named).not.toHaveProperty('max_tokens');
    expect(await sentBody({ model: 'named', input: 'Hello' }, '/responses')).toMatchObject({
      max_output_tokens: 1_000,
    });
    expect(await sentBody(hello('translated'))).toMatchObject({ generationConfig: { maxOutputTokens: 1_000 } });
    expect(await sentBody(hello('service'))).toMatchObject({ max_tokens: 4_000 });
    expect(await sentBody(hello('small'))).toMatchObject({ max_tokens: 50 });
  });

  it('a bound that the client sends is the one that counts, and -1 is that of the entry', async () => {
    expect(await sentBody(hello('named', { max_tokens: 7 }))).not.toHaveProperty('max_completion_tokens');
    const unbounded = await sentBody(hello('bounded', { n_predict: -1 }));
    expect(unbounded).toMatchObject({ n_predict: -1 });
    expect(unbounded).not.toHaveProperty('max_tokens');
  });

  it('a 402 says what is held, which bound would be covered, and what the operator can write', async () => {
    const { message } = await poor(harness, hello('bounded'));
    expect(message).toMatch(
      /^The call may cost 0\.002\d+ USD, and 0\.00\d+ USD of the spend limit of the key is available\./,
    );
    expect(message).toMatch(/With max_tokens (\d+) it would need 0\.00\d+ USD, which is covered\./);
    expect(message).toContain('default_output_tokens');
    const covered = Number(/With max_tokens (\d+)/.exec(message)?.[1]);
    expect((await poor(harness, hello('bounded', { max_tokens: covered }))).status).toBe(200);
    expect((await poor(harness, hello('bounded', { max_tokens: covered + 1 }))).status).toBe(402);
  });

  it('an entry that narrows the interfaces of its provider serves no other', async () => {
    const refused = await harness.post(hello('vectors'));
    expect(await refused.json()).toMatchObject({ error: 'model_not_routable' });
    const served = await send(harness, { model: 'vectors', input: 'Hello' }, '/embeddings', harness.key);
    expect(served.status).toBe(200);
    const { data } = (await (await harness.get('/models')).json()) as { data: { id: string; apis?: string[] }[] };
    expect(data.find(({ id }) => id === 'vectors')?.apis).toEqual(['embeddings']);
  });
});

const poorKey = newKey();

/** Any call through the harness: with another key, or of another interface. */
const send = (harness: Harness, body: object, path: string, key: string): Promise<Response> =>
  fetch(`${harness.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** With a key that may spend a fifth of a cent. */
async function poor(harness: Harness, body: object): Promise<{ readonly status: number; readonly message: string }> {
  const answer = await send(harness, body, '/chat/completions', poorKey);
  const { message = '' } = (await answer.json()) as { message?: string };
  return { status: answer.status, message };
}
