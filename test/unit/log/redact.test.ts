import { describe, expect, it } from '#jest';
import { maskKeys, maskSecrets, redact } from '../../../shared/foundation/log/index.ts';

describe('a text of others in the log', () => {
  it.each([
    ['Incorrect API key provided: sk-proj-abc', 'sk-proj-abc'],
    ['Incorrect API key provided: sk-proj-****************abcd.', 'abcd'],
    ['invalid x-api-key: short', 'short'],
    ['{"password":"hunter2"}', 'hunter2'],
    ['Authorization: Bearer abc.def', 'abc.def'],
    ['got Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
    ['GET https://user:secret1@host/path failed', 'secret1'],
    ['POST https://host/v1beta/models?key=AbCdEf&alt=sse', 'AbCdEf'],
    ['API key AIzaSyA-1234567 not valid', 'SyA-1234567'],
    ['AKIAIOSFODNN7EXAMPLE is not authorized', 'IOSFODNN7'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x', 'eyJ'],
    ['signature abcdefghijklmnopqrstuvwxyzABCDEFGH', 'abcdefghijkl'],
  ])('%s keeps nothing of %s', (text, secret) => {
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain('…');
  });

  it.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    'max_tokens is too large: 99999. This model supports at most 4096.',
    'Requested tokens: 9001',
    'context_length_exceeded: messages[0].content is too long',
    'The model `gpt-4o` does not exist',
  ])('%s stays as it is', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('keeps nothing of a known secret, however plain it looks', () => {
    expect(maskSecrets('the key open sesame is wrong', ['open sesame', ''])).toBe('the key … is wrong');
  });

  it('has its API keys masked alone where it is a name', () => {
    expect(maskKeys('bedrock/claude-3-5-sonnet-20241022-v2')).toBe('bedrock/claude-3-5-sonnet-20241022-v2');
    expect(maskKeys('sk-gw-0123456789abcdef')).toBe('sk-…');
  });
});
