import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { errorBody } from '../../../infra/local/simulator/error-bodies.ts';
import { rejectionReasons } from '../../../shared/errors/index.ts';
import { jsonTextOf } from '../../../shared/protocol/wire/index.ts';
import {
  agreedParam,
  classifyErrorObject,
  classifyStatus,
  readRetryAfterSeconds,
} from '../../../shared/routing/providers/index.ts';

describe('a failing status', () => {
  it.each([
    [400, 'invalid'],
    [413, 'invalid'],
    [422, 'invalid'],
    [429, 'rate_limited'],
    // About our credential, our account or our catalogue: never the client's fault.
    ...[401, 402, 403, 404, 405, 408, 409, 410, 415, 425, 451, 300, 307, 500, 502, 503, 504, 520, 529, 599, 0].map(
      (status): [number, string] => [status, 'failed'],
    ),
  ])('is %i: %s', (status, kind) => {
    expect(classifyStatus(status, errorBody(status)).kind).toBe(kind);
    expect(classifyStatus(status, undefined).kind).toBe(kind);
  });

  it('of a used-up quota is a failure: waiting does not help', () => {
    expect(classifyStatus(429, errorBody(429, 'insufficient_quota')).kind).toBe('failed');
  });

  it.each([
    ['context_length_exceeded', 'context_length_exceeded'],
    ['max_tokens_exceeded', 'max_tokens_exceeded'],
    ['content_policy_violation', 'content_policy_violation'],
    ['invalid_prompt', 'invalid_prompt'],
    ['unsupported_parameter', 'unsupported_parameter'],
    ['unsupported_value', 'unsupported_parameter'],
    ['invalid_function_parameters', 'invalid_tools'],
    ['image_too_large', 'image_too_large'],
    ['invalid_image_format', 'unsupported_image_format'],
    ['image_download_failed', 'image_download_failed'],
    ['vllm', 'context_length_exceeded'],
  ])('names a cause that is recognised: %s is %s', (code, reason) => {
    expect(classifyStatus(400, errorBody(400, code)).reason).toBe(reason);
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

  it('says where the account has no quota left, which no other call of it changes', () => {
    for (const failure of [classifyStatus(429, errorBody(429, 'insufficient_quota')), classifyStatus(402, undefined)]) {
      expect(failure).toMatchObject({ kind: 'failed', hasNoQuota: true });
    }
    expect(classifyStatus(429, errorBody(429)).hasNoQuota).toBeUndefined();
  });

  it('names the member that the provider complains about, and nothing else that may stand there', () => {
    const paramOf = (param: unknown) => classifyStatus(400, { error: { message: 'No.', param } }).param;
    for (const path of ['temperature', 'messages[0].content', 'messages.[2].role', 'tools[1].function.parameters']) {
      expect(paramOf(path)).toBe(path);
    }
    for (const other of ['', 'a b', 'sk-gw-1', '<b>', 7, null, 'x'.repeat(100), 'https://provider.example/x']) {
      expect(paramOf(other)).toBeUndefined();
    }
  });

  it('names a member where all providers complain about it and the request has it', () => {
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

  it('never throws, never repeats a provider’s words, and knows only the reasons of the contract', () => {
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
