import { describe, expect, it } from '#jest';
import {
  type ErrorCode,
  errorCatalogue,
  fail,
  failRejected,
  GatewayError,
  toEnvelope,
} from '../../../shared/errors/index.ts';

const id = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const codes = Object.keys(errorCatalogue) as ErrorCode[];
const headersOf = (code: ErrorCode, retryAfterSeconds?: number) => {
  const { 'content-type': _type, ...headers } = toEnvelope(new GatewayError(code, { retryAfterSeconds }), id).headers;
  return headers;
};

describe('an error answer', () => {
  it.each(codes)('has exactly error, message and correlation_id: %s', (code) => {
    const { status, headers, body } = toEnvelope(new GatewayError(code), id);
    expect(status).toBe(errorCatalogue[code].status);
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toEqual({ error: code, message: errorCatalogue[code].message, correlation_id: id });
  });

  it('carries reason where providers agreed on one, and detail.attempts for a failed schema', () => {
    const rejected = toEnvelope(fail('invalid_request', { reason: 'invalid_tools' }), id);
    expect(JSON.parse(rejected.body)).toMatchObject({ error: 'invalid_request', reason: 'invalid_tools' });
    expect(JSON.parse(rejected.body)).not.toHaveProperty('detail');
    const failed = toEnvelope(fail('schema_validation_failed', { attempts: 3 }), id);
    expect(JSON.parse(failed.body)).toMatchObject({ error: 'schema_validation_failed', detail: { attempts: 3 } });
    expect(JSON.parse(failed.body)).not.toHaveProperty('reason');
  });

  it('never tells its cause', () => {
    const { body } = toEnvelope(fail('internal_error', { cause: new Error('sk-secret at /var/task/x.js') }), id);
    expect(body).not.toMatch(/secret|var\/task/);
  });
});

describe('an error answer in the form of Messages', () => {
  it.each<[ErrorCode, string]>([
    ['invalid_request', 'invalid_request_error'],
    ['method_not_allowed', 'invalid_request_error'],
    ['idempotency_conflict', 'invalid_request_error'],
    ['no_policy_compliant_provider', 'invalid_request_error'],
    ['UNAUTHORIZED', 'authentication_error'],
    ['PAYMENT_REQUIRED', 'billing_error'],
    ['byok_not_enabled', 'permission_error'],
    ['not_found', 'not_found_error'],
    ['request_too_large', 'request_too_large'],
    ['rate_limited', 'rate_limit_error'],
    ['internal_error', 'api_error'],
    ['no_available_provider', 'api_error'],
    ['request_deadline_exceeded', 'api_error'],
    ['RATE_LIMITER_UNAVAILABLE', 'overloaded_error'],
  ])('has the type of its status, and our code where clients find it: %s is an %s', (code, type) => {
    const { status, headers, body } = toEnvelope(fail(code), id, 'messages');
    const { message } = errorCatalogue[code];
    expect(status).toBe(errorCatalogue[code].status);
    expect(headers).toEqual(toEnvelope(fail(code), id).headers);
    const error = { type, message, details: { error_code: code } };
    expect(JSON.parse(body)).toEqual({ type: 'error', error, error_code: code, correlation_id: id });
  });
});

describe('an error answer in the form of OpenAI', () => {
  const bodyOf = (error: GatewayError) => JSON.parse(toEnvelope(error, id, 'openai').body);

  it.each<[ErrorCode, string]>([
    ['invalid_request', 'invalid_request_error'],
    ['not_found', 'invalid_request_error'],
    ['method_not_allowed', 'invalid_request_error'],
    ['idempotency_conflict', 'invalid_request_error'],
    ['request_too_large', 'invalid_request_error'],
    ['no_policy_compliant_provider', 'invalid_request_error'],
    ['UNAUTHORIZED', 'authentication_error'],
    ['PAYMENT_REQUIRED', 'insufficient_quota'],
    ['byok_not_enabled', 'permission_error'],
    ['rate_limited', 'rate_limit_error'],
    ['internal_error', 'api_error'],
    ['no_available_provider', 'api_error'],
    ['RATE_LIMITER_UNAVAILABLE', 'api_error'],
    ['request_deadline_exceeded', 'api_error'],
  ])('says what kind of error it is: %s is an %s', (code, type) => {
    expect(bodyOf(new GatewayError(code)).error).toMatchObject({ type, code });
  });

  it.each(codes)('has the status, the headers and the words of the other form: %s', (code) => {
    const [ours, openai] = [toEnvelope(new GatewayError(code), id), toEnvelope(new GatewayError(code), id, 'openai')];
    expect({ ...openai, body: '' }).toEqual({ ...ours, body: '' });
    const { message } = errorCatalogue[code];
    const { error, ...others } = JSON.parse(openai.body);
    expect(others).toEqual({ message, correlation_id: id });
    expect(error).toEqual({ message, type: expect.any(String), code, param: new GatewayError(code).param ?? null });
  });

  it('names the member that is at fault, of the code or of the case, and null where there is none', () => {
    expect(bodyOf(fail('invalid_sort')).error.param).toBe('provider.sort');
    expect(bodyOf(fail('model_not_routable')).error.param).toBe('model');
    expect(bodyOf(fail('invalid_request', { param: 'messages[0].role' })).error.param).toBe('messages[0].role');
    expect(bodyOf(fail('rate_limited')).error.param).toBeNull();
  });

  it('has the reason as its code where clients look for it there, and the extras inside the error', () => {
    const long = bodyOf(
      failRejected({
        reason: 'context_length_exceeded',
        agreedParam: undefined,
        promptMember: 'input',
        contextLength: 128_000,
      }),
    );
    expect(long.error).toMatchObject({ code: 'context_length_exceeded', reason: 'context_length_exceeded' });
    const tools = bodyOf(fail('invalid_request', { reason: 'invalid_tools' }));
    expect(tools.error).toMatchObject({ code: 'invalid_request', reason: 'invalid_tools' });
    expect(bodyOf(fail('schema_validation_failed', { attempts: 3 })).error.detail).toEqual({ attempts: 3 });
  });
});

describe('what a client is told when every provider rejected its request', () => {
  it('is the limit, in the words that agents look for', () => {
    const { message, param, code } = failRejected({
      reason: 'context_length_exceeded',
      agreedParam: undefined,
      promptMember: 'messages',
      contextLength: 128_000,
    });
    expect(message).toBe("This model's maximum context length is 128000 tokens (context_length_exceeded).");
    expect([code, param]).toEqual(['invalid_request', 'messages']);
  });

  it('is the reason and the member that they agree on', () => {
    const told = (rejection: Partial<Parameters<typeof failRejected>[0]>) =>
      failRejected({
        reason: undefined,
        agreedParam: undefined,
        promptMember: 'messages',
        contextLength: 1,
        ...rejection,
      }).message;
    expect(told({ reason: 'invalid_tools', agreedParam: 'tools' })).toContain('tools (invalid_tools).');
    expect(told({ reason: 'invalid_prompt' })).toContain('(invalid_prompt).');
    expect(told({ agreedParam: 'temperature' })).toContain('member temperature.');
    expect(told({})).toBe('Every provider rejected the request.');
  });
});

describe('the retry headers', () => {
  const terminal: ErrorCode[] = [
    'idempotency_conflict',
    'duplicate_span_id',
    'function_disabled',
    'qualification_expired',
    'execution_disabled',
    'request_deadline_exceeded',
    'execution_deadline_exceeded',
    'provider_not_configured',
    'UNAUTHORIZED',
    'api_key_revoked',
    'schema_validation_failed',
  ];
  const waiting: ErrorCode[] = ['rate_limited', 'api_key_rate_limit', 'execution_capacity', 'RATE_LIMITER_UNAVAILABLE'];

  it.each(terminal)('tell clients not to come back: %s', (code) => {
    expect(headersOf(code, 5)).toEqual({ 'x-should-retry': 'false' });
  });

  it('tell a retry of a running call when to come back', () => {
    expect(headersOf('execution_in_progress', 3)).toEqual({ 'x-should-retry': 'true', 'retry-after': '3' });
    expect(headersOf('execution_in_progress')).toMatchObject({ 'retry-after': '1' });
  });

  it.each(waiting)('name a whole number of seconds from 1 to 60: %s', (code) => {
    expect(headersOf(code)).toEqual({ 'retry-after': '1' });
    expect(headersOf(code, 0)).toEqual({ 'retry-after': '1' });
    expect(headersOf(code, 0.2)).toEqual({ 'retry-after': '1' });
    expect(headersOf(code, 7.01)).toEqual({ 'retry-after': '8' });
    expect(headersOf(code, 60)).toEqual({ 'retry-after': '60' });
  });

  it.each(waiting)('stop automatic retries where the true wait is over 60 seconds: %s', (code) => {
    expect(headersOf(code, 61)).toEqual({ 'retry-after': '60', 'x-should-retry': 'false' });
    expect(headersOf(code, 86_400)).toEqual({ 'retry-after': '60', 'x-should-retry': 'false' });
  });

  it('cover every 409, 429 and 504 there is', () => {
    const named = new Set([...terminal, ...waiting, 'execution_in_progress']);
    const retriedBySdks = codes.filter((code) => [409, 429, 504].includes(errorCatalogue[code].status));
    expect(retriedBySdks.filter((code) => !named.has(code))).toEqual([]);
  });

  it('stop retries of what usually is worth one, where this case is not', () => {
    for (const code of ['no_available_provider', 'execution_failed'] as const) {
      expect(toEnvelope(fail(code, { isFinal: true }), id).headers).toMatchObject({ 'x-should-retry': 'false' });
      expect(toEnvelope(fail(code), id).headers).not.toHaveProperty('x-should-retry');
    }
  });

  it('are on nothing else', () => {
    const others = codes.filter((code) => ![...terminal, ...waiting, 'execution_in_progress'].includes(code));
    expect(others.filter((code) => Object.keys(headersOf(code, 5)).length > 0)).toEqual([]);
  });
});
