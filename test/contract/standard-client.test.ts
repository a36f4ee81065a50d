import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Harness, startHarness } from '../support/harness.ts';

describe('the stock openai client', () => {
  let gateway: Harness;
  let client: OpenAI;

  beforeAll(async () => {
    gateway = await startHarness({ models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] } });
    client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  });
  afterAll(() => gateway.stop());

  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];

  it('gets a JSON answer with its cost', async () => {
    const answer = await client.chat.completions.create({ model: 'acme/echo', messages });
    expect(answer.choices[0]?.message.content).toContain('Hello');
    const { prompt_tokens, completion_tokens } = answer.usage ?? { prompt_tokens: 0, completion_tokens: 0 };
    expect(answer.usage).toMatchObject({
      cost: Number(((prompt_tokens * 1 + completion_tokens * 2) / 1_000_000).toFixed(12)),
      provider: 'acme',
      model: 'acme/echo',
      attempts: 1,
      is_byok: false,
      cache_hit: false,
    });
  });

  it('reads a stream token by token to a finish reason', async () => {
    const stream = await client.chat.completions.create({ model: 'acme/echo', messages, stream: true });
    const deltas: string[] = [];
    let finishReason: string | null | undefined;
    for await (const { choices } of stream) {
      deltas.push(choices[0]?.delta.content ?? '');
      finishReason = choices[0]?.finish_reason ?? finishReason;
    }
    expect(deltas.length).toBeGreaterThan(3);
    expect(deltas.join('')).toContain('Hello');
    expect(finishReason).toBe('stop');
  });

  it('lists the models, auto first', async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(['auto', 'acme/echo']);
  });

  it('gets an error with code, request id and status, and calls no provider', async () => {
    gateway.simulator.clear();
    const failure = await client.chat.completions.create({ model: 'nobody/nothing', messages }).catch((error) => error);
    expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
    expect(failure.error).toBe('unknown_model');
    expect(failure.requestID).toMatch(/^[0-9a-f-]{36}$/);
    expect(gateway.simulator.calls).toHaveLength(0);
  });
});
