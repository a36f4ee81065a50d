import { describe, expect, it } from '#jest';
import { type ErrorCode, errorCatalogue, fail, GatewayError, toEnvelope } from '../../../shared/errors/index.ts';
import { vendorWords } from '../../../shared/errors/vendor-words.ts';

const id = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const codes = Object.keys(errorCatalogue) as ErrorCode[];
const headersOf = (code: ErrorCode, retryAfterSeconds?: number) => {
  const { 'content-type': _type, ...headers } = toEnvelope(new GatewayError(code, { retryAfterSeconds }), id).headers;
  return headers;
};

describe('an error answer', () => {
  it('never tells its cause', () => {
    const { body } = toEnvelope(fail('internal_error', { cause: new Error('sk-secret at /var/task/x.js') }), id);
    expect(body).not.toMatch(/secret|var\/task/);
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

  it('names the field that is at fault, of the code or of the case, and null if there is none', () => {
    expect(bodyOf(fail('invalid_sort')).error.param).toBe('provider.sort');
    expect(bodyOf(fail('model_not_routable')).error.param).toBe('model');
    expect(bodyOf(fail('invalid_request', { param: 'messages[0].role' })).error.param).toBe('messages[0].role');
    expect(bodyOf(fail('rate_limited')).error.param).toBeNull();
  });
});

describe('an error answer in the forms of Google and AWS', () => {
  const google = (error: GatewayError) => JSON.parse(toEnvelope(error, id, 'google').body).error;
  const detail = (error: GatewayError, type: string) =>
    google(error).details.find((one: { '@type': string }) => one['@type'].endsWith(`.${type}`));

  // These are the names of google.rpc.Code.
  const googleCodes = [
    ...['CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
    ...['PERMISSION_DENIED', 'UNAUTHENTICATED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED'],
    ...['OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'],
  ];

  it.each(codes)('has the words of both for %s', (code) => {
    const error = new GatewayError(code);
    const { status } = errorCatalogue[code];
    expect(google(error)).toMatchObject({ code: status, message: error.message });
    expect(googleCodes).toContain(google(error).status);
    expect(detail(error, 'ErrorInfo')).toMatchObject({ reason: code, domain: 'gw', metadata: { correlation_id: id } });
    const { headers, body } = toEnvelope(error, id, 'aws');
    expect(headers['x-amzn-errortype']).toMatch(/^[A-Z][A-Za-z]+Exception$/);
    expect(JSON.parse(body)).toMatchObject({ message: error.message, code });
  });

  it.each<[ErrorCode, string, string]>([
    ['invalid_request', 'INVALID_ARGUMENT', 'ValidationException'],
    ['UNAUTHORIZED', 'UNAUTHENTICATED', 'AccessDeniedException'],
    ['PAYMENT_REQUIRED', 'FAILED_PRECONDITION', 'AccessDeniedException'],
    ['idempotency_conflict', 'ABORTED', 'ConflictException'],
    ['no_policy_compliant_provider', 'INVALID_ARGUMENT', 'ValidationException'],
    ['rate_limited', 'RESOURCE_EXHAUSTED', 'ThrottlingException'],
    ['internal_error', 'INTERNAL', 'InternalServerException'],
    ['no_available_provider', 'UNAVAILABLE', 'ModelErrorException'],
    ['RATE_LIMITER_UNAVAILABLE', 'UNAVAILABLE', 'ServiceUnavailableException'],
    ['request_deadline_exceeded', 'DEADLINE_EXCEEDED', 'ModelTimeoutException'],
  ])('calls %s %s and %s', (code, ofGoogle, ofAws) => {
    const error = new GatewayError(code);
    expect(google(error).status).toBe(ofGoogle);
    expect(toEnvelope(error, id, 'aws').headers['x-amzn-errortype']).toBe(ofAws);
    expect(vendorWords[error.entry.status]).toEqual({ google: ofGoogle, aws: ofAws });
  });

  it('says the true wait if a later try may succeed, and none elsewhere', () => {
    expect(detail(fail('rate_limited', { retryAfterSeconds: 6.2 }), 'RetryInfo').retryDelay).toBe('7s');
    expect(detail(fail('rate_limited', { retryAfterSeconds: 3_600 }), 'RetryInfo').retryDelay).toBe('3600s');
    expect(detail(fail('rate_limited', { isFinal: true }), 'RetryInfo')).toBeUndefined();
    expect(detail(fail('UNAUTHORIZED'), 'RetryInfo')).toBeUndefined();
  });

  it('names the field at fault, and the reason of a rejection', () => {
    const error = fail('invalid_request', { param: 'contents[0].parts', reason: 'invalid_image' });
    expect(detail(error, 'BadRequest').fieldViolations).toEqual([
      { field: 'contents[0].parts', description: error.message },
    ]);
    expect(detail(error, 'ErrorInfo').metadata.reason).toBe('invalid_image');
    expect(detail(fail('internal_error'), 'BadRequest')).toBeUndefined();
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

  it.each(waiting)('stop automatic retries if the true wait is over 60 seconds: %s', (code) => {
    expect(headersOf(code, 61)).toEqual({ 'retry-after': '60', 'x-should-retry': 'false' });
    expect(headersOf(code, 86_400)).toEqual({ 'retry-after': '60', 'x-should-retry': 'false' });
  });

  it('cover every 409, 429 and 504 there is', () => {
    const listedCodes = new Set([...terminal, ...waiting, 'execution_in_progress']);
    const retriedBySdks = codes.filter((code) => [409, 429, 504].includes(errorCatalogue[code].status));
    expect(retriedBySdks.filter((code) => !listedCodes.has(code))).toEqual([]);
  });

  it('stop retries of what usually is worth one, if this case is not', () => {
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
