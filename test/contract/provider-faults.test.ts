// The cause of a provider's refusal: the client's request, our account at the provider, or a passing state of the
// provider.
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { RejectionReason } from '../../shared/errors/index.ts';
import { failedResponseCodes } from '../../shared/routing/providers/index.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { literalsOf } from '../support/installed-types.ts';
import { anthropicOf, openaiOf } from '../support/official-clients.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';

interface Scripted {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

let script: readonly Scripted[] = [];
let providers: readonly ScriptedProvider[];
let gateway: Harness;
const formats = ['chat-completions', 'messages', 'responses', 'generate-content'] as const;

beforeAll(async () => {
  providers = await Promise.all(
    [0, 1].map((place) =>
      startScriptedProvider((outgoing) => {
        const { status = 400, headers, body } = script[place] as Scripted;
        outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
        outgoing.end(body);
      }),
    ),
  );
  const names = formats.map((api) => [api, `first-${api}`, `second-${api}`] as const);
  gateway = await startHarness({
    models: Object.fromEntries(
      names.flatMap(([api, first, second]) => [
        [`one/${api}`, [{ provider: first, upstream: 'any' }]],
        [
          `both/${api}`,
          [
            { provider: first, upstream: 'any' },
            { provider: second, upstream: 'any', more: { output_price_per_million: '99' } },
          ],
        ],
      ]),
    ),
    providers: Object.fromEntries(
      names.flatMap(([api, ...both]) =>
        both.map((id, place) => [id, { base_url: providers[place]?.url, apis: [api] }]),
      ),
    ),
  });
});
afterAll(async () => {
  await gateway.stop();
  for (const provider of providers) await provider.stop();
});
beforeEach(() => {
  script = [];
});

const messages = [{ role: 'user' as const, content: 'Hello' }];
const json = (body: unknown, status = 400, headers?: Record<string, string>): Scripted => ({
  status,
  body: JSON.stringify(body),
  ...(headers && { headers }),
});
const chat = (model: string, more: object = {}) => gateway.post({ model, messages, ...more });

describe('response.failed', () => {
  /** The provider's own failures, with the status that the client gets if no other candidate is left. */
  const providersOwn = { server_error: 502, vector_store_timeout: 502, rate_limit_exceeded: 429 };
  const codes: readonly (readonly [string, RejectionReason | 'invalid' | number])[] = Object.entries({
    ...failedResponseCodes,
    ...providersOwn,
  });
  const failed = (code: string): Scripted => {
    const error = { code, message: 'Words about the image.' };
    const event = { type: 'response.failed', sequence_number: 1, response: { id: 'resp_1', status: 'failed', error } };
    const headers = { 'content-type': 'text/event-stream' };
    return { status: 200, headers, body: `event: response.failed\ndata: ${JSON.stringify(event)}\n\n` };
  };

  it('knows each code of the official package, and no other', () => {
    const { code } = literalsOf("import type * as Responses from 'openai/resources/responses/responses';", {
      code: "Responses.ResponseError['code']",
    });
    expect(codes.map(([name]) => name).sort()).toEqual(code);
  });

  it.each(codes)('says whose fault it is, relayed and translated: %s is %s', async (code, reason) => {
    script = [failed(code)];
    const relayedCall = gateway.postTo('/responses', { model: 'one/responses', input: 'Hello', stream: true });
    for (const answer of [relayedCall, chat('one/responses', { stream: true })]) {
      const response = await answer;
      if (typeof reason === 'number') {
        expect(response.status).toBe(reason);
        expect(await response.text()).not.toContain('Words about');
      } else {
        const { message } = await expectError(response, 400, 'invalid_request', reason === 'invalid' ? {} : { reason });
        expect(message).toContain('Words about the image.');
      }
    }
  });

  it('of an image that a client sent cools no provider', async () => {
    script = [failed('invalid_image'), json({ error: { message: 'No.' } })];
    for (let call = 0; call < 4; call += 1) await (await chat('both/responses', { stream: true })).text();
    await gateway.settled();
    const records = await gateway.records();
    const firstAttempts = records
      .filter(({ attemptLog }) => attemptLog?.length === 2)
      .map(({ attemptLog }) => attemptLog?.[0]);
    expect(firstAttempts.map((attempt) => attempt?.provider)).toEqual(new Array(4).fill('first-responses'));
  });
});

describe('an error code of Anthropic', () => {
  const refusal = (code: string, message = 'Some words.', type = 'invalid_request_error') => ({
    type: 'error',
    error: { type, message, details: { error_code: code } },
  });

  it.each([
    [429, 'contract_spend_limit_reached', 'have no quota left'],
    [429, 'enforced_spend_limit_reached', 'have no quota left'],
    [400, 'cmek_key_disabled', "refused the gateway's own credentials"],
    [400, 'organization_on_hold', "refused the gateway's own credentials"],
  ])('about our account is a failure of the provider, whatever its status: %i %s', async (status, code, words) => {
    script = [json(refusal(code), status)];
    const calls = [
      chat('one/messages'),
      gateway.postTo('/messages', { model: 'one/messages', max_tokens: 9, messages }),
    ];
    for (const call of calls) {
      const response = await call;
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect((await expectError(response, 502, 'no_available_provider')).message).toContain(words);
    }
  });

  it('about our account is one in a stream that has brought nothing, too', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    const event = refusal('enforced_spend_limit_reached', 'Some words.', 'rate_limit_error');
    script = [{ status: 200, headers, body: `event: error\ndata: ${JSON.stringify(event)}\n\n` }];
    for (const call of [
      chat('one/messages', { stream: true }),
      gateway.postTo('/messages', { model: 'one/messages', max_tokens: 9, messages, stream: true }),
    ]) {
      expect((await expectError(await call, 502, 'no_available_provider')).message).toContain('no quota left');
    }
  });

  it('about a growth that is too fast is a limit, with its seconds', async () => {
    script = [json(refusal('ramp_limit_exceeded', 'x', 'rate_limit_error'), 429, { 'retry-after': '17' })];
    const response = await chat('one/messages');
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('17');
  });

  it.each([
    'image_dimensions_too_large',
    'tool_reference_unresolved',
    'tool_name_conflict',
    'compaction_nothing_to_summarize',
  ])('about the request reaches the official SDK: %s', async (code) => {
    script = [json(refusal(code)), json(refusal('another_code'))];
    const client = anthropicOf(gateway);
    for (const model of ['one/messages', 'both/messages']) {
      const error = await client.messages
        .create({ model, max_tokens: 9, messages })
        .catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(Anthropic.BadRequestError);
      expect(error).toMatchObject({ errorCode: code, error: { error_code: 'invalid_request' } });
    }
  });

  it('is ours if the provider gave none, or another one has the word', async () => {
    script = [json({ error: { message: 'No.' } }), json(refusal('image_dimensions_too_large'))];
    for (const model of ['one/messages', 'both/messages', 'one/chat-completions']) {
      const response = await gateway.postTo('/messages', { model, max_tokens: 9, messages });
      const { error } = (await response.json()) as { error: { details: object } };
      expect(error.details).toEqual({ error_code: 'invalid_request' });
    }
  });
});

describe('a limit of Gemini', () => {
  const limitedError = (details: object[]) => ({
    error: {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      message: 'You exceeded your current quota, please check your plan and billing details.',
      details,
    },
  });
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' };

  it('that says when to come back is one, whatever its words, and not an empty account', async () => {
    for (const body of [limitedError([retry]), [limitedError([{}, retry])]]) {
      script = [json(body, 429)];
      for (const model of ['one/generate-content', 'one/chat-completions']) {
        const response = await chat(model);
        await expectError(response, 429, 'rate_limited');
        expect(response.headers.get('retry-after')).toBe('35');
      }
    }
  });

  it('without a time is an account without quota', async () => {
    script = [json(limitedError([]), 429)];
    await expectError(await chat('one/generate-content'), 502, 'no_available_provider');
  });
});

describe('what a provider says', () => {
  it.each(['', ' \n', '{}', 'null', '[]', '{"error":{}}', '{"error":{"message":" "}}'])(
    'counts for nothing if it is empty (%j): the text of the second is reported',
    async (body) => {
      script = [{ body }, json({ error: { message: 'It is too hot.' } })];
      expect((await expectError(await chat('both/chat-completions'), 400, 'invalid_request')).message).toMatch(
        /The provider said: It is too hot\.$/,
      );
      const response = await gateway.postTo('/messages', { model: 'both/messages', max_tokens: 9, messages });
      expect((await expectError(response, 400, 'invalid_request')).message).toBe('It is too hot.');
    },
  );

  it('of `stream_options` is reported together with the setting that leaves it out', async () => {
    const error = { message: 'Extra inputs are not permitted: stream_options', param: 'stream_options' };
    script = [json({ error })];
    for (const call of [
      chat('one/chat-completions', { stream: true }),
      gateway.postTo('/messages', { model: 'one/chat-completions', max_tokens: 9, messages, stream: true }),
    ]) {
      const reason = 'unsupported_parameter';
      const { message } = await expectError(await call, 400, 'invalid_request', { reason });
      expect(message).toContain('`stream_usage: false`');
    }
    script = [json({ error: { message: 'No.' } })];
    expect((await expectError(await chat('one/chat-completions'), 400, 'invalid_request')).message).not.toContain(
      'stream_usage',
    );
  });
});

describe('a prompt that is too long', () => {
  it.each([
    [400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    [400, 'the request exceeds the available context size. try increasing the context size or enable context shift'],
    [400, 'request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it'],
    [400, 'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)'],
    [400, 'Prompt exceeds max length'],
    [422, 'Input validation error: token count (9001) plus max_new_tokens (512) must be <= 8193'],
    [413, 'Request body too large for gpt-4o model. Max size: 8000 tokens.'],
    [400, 'max_tokens must be at least 1, got -120.'],
    [500, 'Context size has been exceeded.'],
  ])('is one in the words of each provider: %i %s', async (status, message) => {
    script = [json({ error: { message, type: 'invalid_request_error', code: null } }, status)];
    const response = await chat('one/chat-completions');
    await expectError(response, 400, 'invalid_request', { reason: 'context_length_exceeded' });
    const agent = await gateway.postTo('/messages', { model: 'one/chat-completions', max_tokens: 9, messages });
    const { message: words } = await expectError(agent, 400, 'invalid_request', { reason: 'context_length_exceeded' });
    expect(words).toMatch(
      /^(prompt is too long: \d+ tokens > \d+ maximum|input length and `max_tokens` exceed context limit)/,
    );
  });

  it.each([
    ['exceed_context_size_error', undefined],
    [undefined, 'tokens_limit_reached'],
  ])('is one by its type or code alone: %s %s', async (type, code) => {
    script = [json({ error: { message: 'No.', type, code } })];
    await expectError(await chat('one/chat-completions'), 400, 'invalid_request', {
      reason: 'context_length_exceeded',
    });
    const client = openaiOf(gateway, '/openai/v1');
    const call = client.chat.completions.create({ model: 'one/chat-completions', messages });
    await expect(call).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });
});
