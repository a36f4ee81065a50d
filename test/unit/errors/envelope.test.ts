import { describe, expect, it } from '@jest/globals';
import { type ErrorCode, errorCatalogue, fail, GatewayError, toEnvelope } from '../../../shared/errors/index.ts';

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

  it('are on nothing else', () => {
    const others = codes.filter((code) => ![...terminal, ...waiting, 'execution_in_progress'].includes(code));
    expect(others.filter((code) => Object.keys(headersOf(code, 5)).length > 0)).toEqual([]);
  });
});
