import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { errorBody } from '../../../infra/local/simulator/error-bodies.ts';
import { messagesError } from '../../../infra/local/simulator/formats/anthropic-errors.ts';
import { bedrockError } from '../../../infra/local/simulator/formats/bedrock-converse.ts';
import { googleError } from '../../../infra/local/simulator/formats/google-generate-content.ts';
import { rejectionReasons } from '../../../shared/errors/index.ts';
import { chatCompletions } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { jsonTextOf, readEvents } from '../../../shared/protocol/wire/index.ts';
import {
  type AttemptFailure,
  agreedParam,
  classifyErrorObject,
  classifyStatus,
  describeProviderText,
  readStream as readEventStream,
  readProviderText,
  readRetryAfterSeconds,
  readRetryDelaySeconds,
} from '../../../shared/routing/providers/index.ts';

describe('an error in the form of a provider', () => {
  const anthropic = (code: string) => classifyStatus(400, messagesError(400, code));
  const google = (code: string) => classifyStatus(400, googleError(400, code));
  const bedrock = (code: string, status = 400) => {
    const { body, headers } = bedrockError(status, code);
    return classifyStatus(status, body, undefined, `${headers['x-amzn-errortype']}:http://internal.amazon.com/coral/`);
  };

  const openai = (code: string) => classifyStatus(400, errorBody(400, code));
  const all = [openai, anthropic, google, bedrock];

  it.each([
    ['context_length_exceeded', 'context_length_exceeded', all],
    ['max_tokens_exceeded', 'max_tokens_exceeded', all],
    ['content_policy_violation', 'content_policy_violation', all],
    ['unsupported_parameter', 'unsupported_parameter', all],
    ['unsupported_value', 'unsupported_parameter', all],
    ['invalid_function_parameters', 'invalid_tools', all],
    ['invalid_image_format', 'unsupported_image_format', all],
    ['invalid_image_url', 'invalid_image', [anthropic, google, bedrock]],
    ['image_too_large', 'image_too_large', [openai, anthropic, bedrock]],
    ['image_download_failed', 'image_download_failed', [openai, anthropic, google]],
    ['invalid_prompt', 'invalid_prompt', [openai]],
    ['vllm', 'context_length_exceeded', [openai]],
  ] as const)('names a cause in its words: %s is %s', (code, reason, forms) => {
    for (const classify of forms) expect(classify(code)).toMatchObject({ kind: 'invalid', reason, status: 400 });
  });

  it('that refuses the credential with a 400 is a failure of the provider, never of the request', () => {
    for (const failure of [
      google('api_key_invalid'),
      bedrock('UnrecognizedClientException'),
      bedrock('ExpiredTokenException'),
    ]) {
      expect(failure).toEqual({ kind: 'failed', refusedCredential: true, status: 400, cause: 'status_400' });
    }
    expect(bedrock('AccessDeniedException', 403)).toMatchObject({ kind: 'failed', refusedCredential: true });
    // Google answers some calls with a list.
    expect(classifyStatus(400, [googleError(400, 'api_key_invalid')]).refusedCredential).toBe(true);
  });

  it('of an account without credit is a failure: waiting does not help', () => {
    for (const failure of [anthropic('insufficient_quota'), bedrock('insufficient_quota')]) {
      expect(failure).toEqual({ kind: 'failed', hasNoQuota: true, status: 400, cause: 'status_400' });
    }
  });

  it.each([
    'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
    'You have reached your specified workspace API usage limits.',
    'Your credit balance is too low to access the Anthropic API.',
    'You exceeded your current quota, please check your plan and billing details.',
    'Billing hard limit has been reached',
    'Your team has either used all available credits or reached its monthly spending limit.',
  ])('about the limit of our account is one, whatever its status: %s', (message) => {
    for (const status of [400, 403, 422, 429])
      expect(classifyStatus(status, { error: { message } })).toMatchObject({ kind: 'failed', hasNoQuota: true });
    expect(classifyErrorObject({ error: { type: 'invalid_request_error', message } })).toMatchObject({
      kind: 'failed',
      hasNoQuota: true,
    });
    // The same text inside a quoted prompt has no meaning.
    expect(classifyStatus(400, { error: { message: `Invalid text: ${message}` } }).kind).toBe('invalid');
  });

  it('of too many calls is one, whatever its status', () => {
    expect(bedrock('ThrottlingException')).toMatchObject({ kind: 'rate_limited' });
    expect(bedrock('rate_limit_exceeded', 429)).toMatchObject({ kind: 'rate_limited' });
    expect(classifyStatus(429, googleError(429))).toMatchObject({ kind: 'rate_limited' });
    expect(classifyStatus(429, messagesError(429))).toMatchObject({ kind: 'rate_limited' });
  });

  it('about the catalogue or the place is no fault of the request', () => {
    for (const message of [
      'The provided model identifier is invalid.',
      "Invocation of model ID anthropic.claude-x with on-demand throughput isn't supported. Retry with an inference profile.",
      'User location is not supported for the API use.',
    ]) {
      expect(classifyStatus(400, { message })).toEqual({ kind: 'failed', status: 400, cause: 'status_400' });
      // The same text inside a quoted prompt has no meaning.
      expect(classifyStatus(400, { message: `Invalid text: ${message}` }).kind).toBe('invalid');
    }
  });

  it.each([
    ['34.07s', 35],
    ['7s', 7],
    ['0s', undefined],
    ['soon', undefined],
    [7, undefined],
  ])('tells when to come back: %j', (retryDelay, seconds) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
    expect(readRetryDelaySeconds({ error: { code: 429, details } })).toBe(seconds);
    expect(readRetryDelaySeconds([{ error: { code: 429, details: [{}, ...details] } }])).toBe(seconds);
  });
});

describe('a failing status', () => {
  it.each([
    [400, 'invalid'],
    [413, 'invalid'],
    [422, 'invalid'],
    [429, 'rate_limited'],
    // These are about our credential, our account or our catalogue, and never the client's fault.
    ...[401, 402, 403, 404, 405, 408, 409, 410, 415, 425, 451, 300, 307, 500, 502, 503, 504, 520, 529, 599, 0].map(
      (status): [number, string] => [status, 'failed'],
    ),
  ])('is %i: %s', (status, kind) => {
    expect(classifyStatus(status, errorBody(status)).kind).toBe(kind);
    expect(classifyStatus(status, undefined).kind).toBe(kind);
  });

  it.each([
    ['unsupported_parameter', 'max_tokens', 'unsupported_parameter'],
    ['unsupported_parameter', 'tools', 'unsupported_parameter'],
    ['unknown_parameter', 'messages[0].audio', 'unsupported_parameter'],
    ['integer_below_min_value', 'max_tokens', 'invalid_parameter'],
    ['invalid_type', 'max_completion_tokens', 'invalid_parameter'],
    ['integer_above_max_value', 'max_tokens', 'max_tokens_exceeded'],
    ['invalid_value', 'tools[0].function.name', 'invalid_tools'],
    ['invalid_value', 'messages[1].role', 'invalid_prompt'],
    ['integer_above_max_value', 'n', 'invalid_parameter'],
  ])('takes a code at its word before the parameter it is about: %s of %s is %s', (code, param, reason) => {
    const message = 'The request was rejected.';
    expect(classifyStatus(400, { error: { code, param, message, type: 'invalid_request_error' } }).reason).toBe(reason);
  });

  it('says if the account has no quota left, which no other call of it changes', () => {
    for (const failure of [classifyStatus(429, errorBody(429, 'insufficient_quota')), classifyStatus(402, undefined)]) {
      expect(failure).toMatchObject({ kind: 'failed', hasNoQuota: true });
    }
    expect(classifyStatus(429, errorBody(429)).hasNoQuota).toBeUndefined();
  });

  it('names the field that the provider complains about, and nothing else that may be in the text', () => {
    const paramOf = (param: unknown) => classifyStatus(400, { error: { message: 'No.', param } }).param;
    for (const path of ['temperature', 'messages[0].content', 'messages.[2].role', 'tools[1].function.parameters']) {
      expect(paramOf(path)).toBe(path);
    }
    for (const other of ['', 'a b', 'sk-gw-1', '<b>', 7, null, 'x'.repeat(100), 'https://provider.example/x']) {
      expect(paramOf(other)).toBeUndefined();
    }
  });

  it('names a field that only its words begin with', () => {
    const paramOf = (message: string) => classifyStatus(400, { error: { message } }).param;
    expect(paramOf('messages.0.role: Input should be "user"')).toBe('messages.0.role');
    expect(paramOf('No way: never')).toBeUndefined();
  });

  it('names a field if all providers complain about it and the request has it', () => {
    const about = (param?: string) => classifyStatus(400, { error: { param } });
    const request = jsonTextOf({ temperature: 7, messages: [] });
    expect(agreedParam([about('temperature'), about('temperature')], request)).toBe('temperature');
    expect(agreedParam([about('messages[0].content')], request)).toBe('messages[0].content');
    expect(agreedParam([about('temperature'), about('messages')], request)).toBeUndefined();
    expect(agreedParam([about('temperature'), about()], request)).toBeUndefined();
    expect(agreedParam([about('max_completion_tokens')], request)).toBeUndefined();
    expect(agreedParam([about('toString')], request)).toBeUndefined();
  });

  it('names none for a body it cannot read', () => {
    for (const body of [undefined, null, 'Bad Request', [], {}, { error: null }, errorBody(400, 'gemini')]) {
      expect(classifyStatus(400, body)).toMatchObject({ kind: 'invalid', reason: undefined });
    }
  });
});

describe('an error object', () => {
  it.each([
    [{ error: { code: 'rate_limit_exceeded' } }, 'rate_limited'],
    [{ error: { type: 'rate_limit_error' } }, 'rate_limited'],
    [{ error: { code: 429, message: 'x' } }, 'rate_limited'],
    [{ error: { code: '429' } }, 'rate_limited'],
    [{ error: { type: 'invalid_request_error', code: 'context_length_exceeded' } }, 'invalid'],
    [{ error: { code: 400 } }, 'invalid'],
    [{ object: 'error', code: 400, message: 'maximum context length' }, 'invalid'],
    [{ error: { code: 401 } }, 'failed'],
    [{ error: { code: 502, metadata: {} } }, 'failed'],
    [{ error: 'model runner has unexpectedly stopped' }, 'failed'],
    [{ error: {} }, 'failed'],
    [{ error: true }, 'failed'],
    [{ type: 'error', error: { type: 'overloaded_error' } }, 'failed'],
  ])('is classified by what it says: %j is %s', (body, kind) => {
    expect(classifyErrorObject(body).kind).toBe(kind);
  });

  it('never throws, never repeats a provider’s words, and knows only the documented reasons', () => {
    const error = fc.record({ message: fc.string(), code: fc.anything(), type: fc.anything(), param: fc.anything() });
    const body = fc.oneof(fc.anything(), fc.record({ error: fc.oneof(fc.anything(), error) }));
    fc.assert(
      fc.property(body, fc.integer({ min: 100, max: 599 }), (value, status) => {
        for (const failure of [classifyErrorObject(value), classifyStatus(status, value)]) {
          expect(failure.cause).toMatch(/^(error_object(_\d{3})?|status_\d{3})$/);
          if (failure.reason !== undefined) expect(rejectionReasons).toContain(failure.reason);
        }
      }),
    );
  });
});

describe('the time a provider names', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '0.2' }, 1],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 2],
    [{ 'retry-after': '99999999' }, 86_400],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'Thu, 01 Jan 2020 00:00:30 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '1e999' }, 86_400],
    [{}, undefined],
  ])('is read in every spelling in use: %j', (headers, seconds) => {
    expect(readRetryAfterSeconds(headers as Record<string, string>, nowMs)).toBe(seconds);
  });
});

const describeText = (body: unknown) => describeProviderText(body, []);

describe('what a provider says of its failure', () => {
  it.each([
    [{ error: { code: 'model_not_found', message: 'No such model' } }, 'model_not_found: No such model'],
    [{ error: { type: 'overloaded_error', code: null, message: 'Overloaded' } }, 'overloaded_error: Overloaded'],
    [{ error: 'model runner has stopped' }, 'model runner has stopped'],
    [{ message: 'Input is too long.' }, 'Input is too long.'],
    [{ detail: [{ msg: 'field required' }] }, '{"detail":[{"msg":"…"}]}'],
    ['<html><body><h1>502 Bad Gateway</h1>\nnginx</body></html>', '502 Bad Gateway nginx'],
    [[1], '[1]'],
    ['', undefined],
    [undefined, undefined],
  ])('%j is read as %j', (body, text) => {
    expect(describeText(body)).toBe(text);
  });

  it('keeps quoted names and no quoted sentence', () => {
    expect(describeText("Invalid value: 'robot'. It isn't one of 'user', 'tool'.")).toBe(
      "Invalid value: 'robot'. It isn't one of 'user', 'tool'.",
    );
    expect(describeText('Flagged: "how do I rob a bank" and \'my other secret\' and `a b`')).toBe(
      'Flagged: "…" and "…" and "…"',
    );
    expect(describeText('Flagged: "a sentence that is cut')).toBe('Flagged: "…"');
  });

  it('is not cut at a quoted name, and keeps names of models and ids of the conversation', () => {
    for (const text of [
      'The model "gpt-4o-mini-2024-07-18" does not exist or "tools" are off.',
      'messages.1.content.0: Invalid `signature` in `thinking` block',
      'No such model: claude-haiku-4-5-20251001, anthropic.claude-sonnet-4-20250514-v1:0, Qwen2.5-VL-72B-Instruct-AWQ',
      'accounts/fireworks/models/deepseek is gone',
      'tool_use ids were found without tool_result blocks: toolu_01A09q90qw90lq917835lq9',
    ]) {
      expect(describeText(text)).toBe(text);
    }
    expect(describeText('key a1b2c3d4-e5f60718-29304a5b6c, 0123456789abcdef0123456789abcdef')).toBe('key …, …');
  });

  it('is cut, in one line, and steers no terminal', () => {
    const text = describeText(`a\r\n\u001b[31mb ${'word '.repeat(10_000)}`) ?? '';
    expect(text).toMatch(/^a \[31mb word .*…$/);
    expect(text).toHaveLength(300);
  });

  it('holds nothing of the credential it was called with, even if the credential is at the cut', () => {
    const secret = 'open-sesame';
    // Each quoted sentence shrinks to one character, so text far after it is within the part that is searched.
    const quoted = `"${'x '.repeat(985)}"`;
    for (const before of ['', 'x '.repeat(145), quoted, `${quoted} y `, `${quoted} y y y y `]) {
      const text = describeProviderText(`${before}${secret} ${secret} end`, [secret]) ?? '';
      expect(text).not.toMatch(/open|sesame/);
      const key = 'a1b2c3d4e5f6a7b8c9d0e1f2';
      expect(describeProviderText(`${before}${key} ${key}`, [])).not.toMatch(/a1b2c3/);
    }
  });

  // The secret has letters, digits and every sign that one of the three escapes; without a digit it would not look like
  // a key.
  const secret = 'open/sesame+door="quiet&green"<house>';
  const escapeAll = (form: (code: number) => string) => (text: string) =>
    [...text].map((character) => form(character.charCodeAt(0))).join('');
  const percent = escapeAll((code) => `%${code.toString(16)}`);
  const entities = escapeAll((code) => `&#x${code.toString(16)};`);
  const unicode = escapeAll((code) => `\\u00${code.toString(16)}`);
  const namedError = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

  it.each<[string, unknown]>([
    ['as it is', `key ${secret} wrong`],
    ['in JSON', JSON.stringify({ nested: JSON.stringify({ key: secret }) })],
    ['with every character escaped for JSON', `{"key":"${unicode(secret)}"`],
    ['with a slash escaped', `key ${secret.replaceAll('/', String.raw`\/`)}`],
    ['in a URL', `https://host/path?a=1#${encodeURIComponent(secret)}`],
    ['with every character escaped for a URL', `at ${percent(secret)}`],
    ['escaped for a URL twice', `at ${encodeURIComponent(percent(secret))}`],
    ['in HTML', `<p>key ${namedError(secret)}</p>`],
    ['in HTML twice', `<p>key ${namedError(namedError(secret))}</p>`],
    ['with every character escaped for HTML', `<p>${entities(secret)}</p>`],
    ['escaped for a URL in HTML', `<p>${entities(percent(secret))}</p>`],
    ['in capitals', `KEY ${secret.toUpperCase()}`],
    ['in two texts', { error: { message: [{ text: secret.slice(0, 9) }, { text: secret.slice(9) }] } }],
    ['in texts of a character each', { detail: [...secret] }],
    ['in code and message', { error: { code: 'opensesamedoor', message: `quietgreenhouse` } }],
    ['with a sign between its pieces', secret.match(/.{1,12}/g)?.join(' | ')],
    ['as the name of a member', { [secret]: 1 }],
    ['twice, behind a long text', `${'word '.repeat(50)}${percent(secret)}${secret}`],
  ])('holds nothing of a credential %s', (_how, body) => {
    const text = describeProviderText(body, [secret]) ?? '';
    const plain = decodeURIComponent(text.replace(/%(?![\da-f]{2})/gi, '')).replace(/[^a-z]/gi, '');
    expect(plain).not.toMatch(/sesam|esame|quiet|green|house/i);
    expect(text).not.toMatch(/%6|u006|&#x/);
    expect(text).toContain('…');
  });

  it('reads the text beside a masked credential, and what only resembles one', () => {
    expect(describeProviderText(`Key ${encodeURIComponent(secret)} is not known.`, [secret])).toBe(
      'Key … is not known.',
    );
    const body = { error: { message: 'Open the house: 50% off &amp; \\u0041' } };
    expect(describeProviderText(body, [secret])).toBe('Open the house: 50% off &amp; \\u0041');
  });

  it('is looked at in part however much a provider says', () => {
    const nested = JSON.parse(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`) as unknown;
    expect(describeProviderText({ detail: nested, more: Array(50_000).fill('x') }, [secret])).toMatch(/^\{"detail":/);
    const long = describeProviderText(`${'x '.repeat(1_000_000)}${secret}`, [secret]) ?? '';
    expect(long).toHaveLength(300);
  });
});

describe('what a client reads of a provider that rejected its request', () => {
  const secret = 'open-sesame-1234567';
  const requestText = () => JSON.stringify({ model: 'acme/Model-9f8e7d6c5b4a3f2e', id: 'a1b2c3d4e5f6a7b8c9d0e1f2' });
  const read = (body: unknown) =>
    readProviderText(body, { secrets: [secret], hostname: 'acme-eu.provider.example', requestText }).forClient;

  it.each([
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens`',
    'prompt is too long: 210000 tokens > 200000 maximum',
    'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5-20251001',
    'unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A09q90qw90lq917835lq9',
    'The id a1b2c3d4e5f6a7b8c9d0e1f2 is of model acme/Model-9f8e7d6c5b4a3f2e.',
    'See https://platform.example/docs for "what is possible here".',
    'first line\nsecond line',
  ])('is what it said: %j', (message) => {
    expect(read({ type: 'error', error: { type: 'invalid_request_error', message } })).toBe(message);
    expect(read([{ error: { message } }])).toBe(message);
  });

  it.each([
    [`Key ${secret} of org-AbCd1234EfGh5678IjKl in proj_x1y2z3 is wrong`, 'Key … of org-… in proj_… is wrong'],
    ['projects/123456789012/locations/eu: no', 'projects/…/locations/eu: no'],
    ['project_number: 123456789012 is off', 'project_number: … is off'],
    ['arn:aws:bedrock:eu-west-1:123456789012:inference-profile/x', 'arn:aws:bedrock:eu-west-1:…:inference-profile/x'],
    ['POST https://ACME-eu.provider.example:8443/v1/x failed', 'POST https://…/v1/x failed'],
    ['secret f0e1d2c3b4a5968778695a4b3c2d1e0f', 'secret …'],
    ['<html><h1>400 Bad Request</h1></html>', '400 Bad Request'],
    ['a\u001b[31mb', 'a [31mb'],
    ['organization-wide and org-level rules of projects', 'organization-wide and org-level rules of projects'],
  ])('holds nothing of the gateway and its accounts: %j', (message, expectedMessage) => {
    expect(read({ error: { message } })).toBe(expectedMessage);
  });

  it('is nothing if nothing was said', () => {
    for (const body of [undefined, '', '  ', { error: { message: '' } }]) expect(read(body)).toBeUndefined();
  });
});

const chunk = (delta: object, finish_reason: string | null = null, index = 0) =>
  JSON.stringify({ choices: [{ index, delta, finish_reason }] });
const role = chunk({ role: 'assistant', content: '' });
const readStream = (body: AsyncIterable<Uint8Array>, choices = 1) =>
  readEventStream(readEvents(body, 1_000_000), chatCompletions.openEventReader(choices), {
    describe: () => undefined,
    onEnd: () => {},
    onEvent: () => {},
  });
const word = chunk({ content: 'Hi' });
const stop = chunk({}, 'stop');
const events = (...texts: string[]) => texts.map((text) => `data: ${text}\n\n`).join('');

async function read(...pieces: string[]): Promise<{ texts: string[]; broken?: AttemptFailure }> {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const texts: string[] = [];
  for await (const { events: batch, failure } of readStream(body())) {
    texts.push(...batch.map(({ text }) => text));
    if (failure !== undefined) return { texts, broken: failure };
  }
  return { texts };
}

describe('reading a provider’s stream', () => {
  it('drops what follows the end marker, errors included', async () => {
    expect(await read(events(word, '[DONE]', '{"error":{}}', word))).toEqual({ texts: [word] });
    expect(await read(events(word, '[DONE]'), 'garbage')).toEqual({ texts: [word] });
  });

  it('gives an empty batch for a comment or an event without text: a sign of life, no output', async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      for (const piece of [events(word), ': still', ' here\n', ':\n\n', 'data:\n\n', events('[DONE]')])
        yield Buffer.from(piece);
    }
    const lengths: number[] = [];
    for await (const batch of readStream(body())) lengths.push(batch.events.length);
    expect(lengths).toEqual([1, 0, 0, 0]);
  });

  it('takes an end marker with a blank after it, and lets empty events pass', async () => {
    expect(await read('data:\n\n', events(word, ' ', '[DONE] '))).toEqual({ texts: [word] });
  });

  it('ends well once every choice has finished, however the connection then ends', async () => {
    async function* brokenBody(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(events(role, word, stop));
      throw new Error('the connection was reset');
    }
    const texts: string[] = [];
    for await (const { events: batch } of readStream(brokenBody())) texts.push(...batch.map(({ text }) => text));
    expect(texts).toEqual([role, word, stop]);
    for (const rest of ['data: {"id":"half a', events('{"error":{"message":"x"}}'), events('not JSON')]) {
      expect(await read(events(role, word, stop), rest)).toEqual({ texts: [role, word, stop] });
    }
  });

  it('waits for as many choices as were asked for', async () => {
    async function* body(...texts: string[]): AsyncGenerator<Uint8Array> {
      yield Buffer.from(events(...texts));
    }
    const readTwo = async (...texts: string[]) => {
      for await (const { failure } of readStream(body(...texts), 2)) if (failure !== undefined) return failure.cause;
      return 'whole';
    };
    expect(await readTwo(word, stop)).toBe('truncated_stream');
    expect(await readTwo(word, stop, chunk({ content: 'Hi' }, 'stop', 1))).toBe('whole');
    expect(await readTwo(word, stop, '[DONE]')).toBe('whole');
  });
});
