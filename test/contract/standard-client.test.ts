// What the stock client makes of an answer, and of a failure: what it shows to its user, and whether it comes back by itself.

import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];

describe('the stock openai client', () => {
  let gateway: Harness;
  let requests: number;

  beforeAll(async () => {
    const failing = ['error-after-chunks:2', 'error-after-chunks:2:rate_limit_exceeded', 'cut-clean:2', 'error-500'];
    const limited = ['error-429:x:30', 'error-429:x:90'];
    gateway = await startHarness({
      models: {
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
        ...Object.fromEntries(
          [...failing, ...limited].map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]]),
        ),
        'acme/unconfigured': [{ provider: 'unset', upstream: 'echo' }],
        'acme/reasoning': [{ provider: 'acme', upstream: 'reasoning' }],
      },
      providers: { unset: { auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } } } },
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => {
    requests = 0;
    gateway.simulator.clear();
  });

  /** Its retries are those it makes by default, unless a test says otherwise. */
  const client = (options: { maxRetries?: number } = {}) =>
    new OpenAI({
      baseURL: gateway.url,
      apiKey: gateway.key,
      fetch: (url, init) => {
        requests += 1;
        return fetch(url as string, init as RequestInit);
      },
      ...options,
    });
  const create = async (
    model: string,
    options: { maxRetries?: number } = {},
  ): Promise<InstanceType<typeof OpenAI.APIError>> =>
    client(options)
      .chat.completions.create({ model, messages })
      .then(
        () => {
          throw new Error('an error was expected');
        },
        (error) => error,
      );

  it('gets an error with code, request id and status, and calls no provider', async () => {
    const failure = await client()
      .chat.completions.create({ model: 'nobody/nothing', messages })
      .catch((error) => error);
    expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
    expect(failure.error).toBe('unknown_model');
    expect(failure.requestID).toMatch(/^[0-9a-f-]{36}$/);
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it.each([
    ['acme/error-after-chunks:2', 'no_available_provider'],
    ['acme/error-after-chunks:2:rate_limit_exceeded', 'rate_limited'],
    ['acme/cut-clean:2', 'no_available_provider'],
  ])('throws an APIError with our code where a stream breaks, after what came: %s', async (model, code) => {
    const stream = await client().chat.completions.create({ model, messages, stream: true });
    let content = '';
    const read = async () => {
      for await (const chunk of stream) content += chunk.choices[0]?.delta.content ?? '';
    };
    const failure = await read().catch((error) => error);
    expect(failure).toBeInstanceOf(OpenAI.APIError);
    expect(failure.code).toBe(code);
    expect(content).toBe('Hello! You');
    expect([requests, gateway.simulator.calls.length]).toEqual([1, 1]);
  });

  it('does not come back where nothing would change', async () => {
    const failure = await create('acme/unconfigured');
    expect(failure.status).toBe(503);
    expect(failure.error).toBe('provider_not_configured');
    expect(failure.headers?.get('x-should-retry')).toBe('false');
    expect([requests, gateway.simulator.calls.length]).toEqual([1, 0]);
  });

  it('does not come back by itself where the true wait is over a minute', async () => {
    const failure = await create('acme/error-429:x:90');
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure.headers?.get('retry-after')).toBe('60');
    expect(requests).toBe(1);
  });

  it('is told when to come back where that helps', async () => {
    const failure = await create('acme/error-429:x:30', { maxRetries: 0 });
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure.error).toBe('rate_limited');
    expect(failure.headers?.get('retry-after')).toBe('30');
    expect(failure.headers?.get('x-should-retry')).toBeNull();
  });

  it('shows an id that stands in our log too', async () => {
    const failure = await create('acme/error-500', { maxRetries: 0 });
    expect(failure.requestID).toMatch(/^[0-9a-f-]{36}$/);
    expect(gateway.logLines.filter((line) => line.includes(failure.requestID ?? 'none')).length).toBeGreaterThan(0);
  });

  it('takes the added usage chunk for the end of the stream’s numbers', async () => {
    const body = { ...hello('acme/reasoning'), stream: true, usage: { include: true } };
    const stream = await client().chat.completions.create(
      body as unknown as OpenAI.ChatCompletionCreateParamsStreaming,
    );
    let last: OpenAI.ChatCompletionChunk | undefined;
    for await (const chunk of stream) last = chunk;
    expect(last?.choices).toEqual([]);
    expect(last?.usage).toMatchObject({ cost: expect.any(Number), provider: 'acme', attempts: 1 });
  });
});

describe('the stock openai client behind a provider that never answers', () => {
  it('meets the deadline once, and does not pay for it three times', async () => {
    const clock = manualClock();
    const gateway = await startHarness({
      clock,
      models: { 'acme/silent': [{ provider: 'acme', upstream: 'silent' }] },
    });
    let requests = 0;
    const client = new OpenAI({
      baseURL: gateway.url,
      apiKey: gateway.key,
      fetch: (url, init) => {
        requests += 1;
        return fetch(url as string, init as RequestInit);
      },
    });
    const answer = client.chat.completions.create({ model: 'acme/silent', messages }).catch((error) => error);
    await gateway.simulator.until((calls) => calls.length === 1);
    clock.advance(55_000);
    const failure = await answer;
    expect(failure.status).toBe(504);
    expect(failure.error).toBe('request_deadline_exceeded');
    expect([requests, gateway.simulator.calls.length]).toEqual([1, 1]);
    await gateway.stop();
  });
});
