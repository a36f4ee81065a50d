import { describe, expect, it } from '@jest/globals';
import { readStreamChunk } from '../../../shared/protocol/wire/index.ts';

const factsOf = (chunk: object) => readStreamChunk(JSON.stringify(chunk))?.facts;
const withDelta = (delta: object, more: object = {}) => factsOf({ choices: [{ index: 0, delta, ...more }] });

describe('a chunk of a stream', () => {
  it.each([
    { content: 'x' },
    { content: ' ' },
    { role: 'assistant', content: 'x' },
    { refusal: 'no' },
    { reasoning: 'hm' },
    { reasoning_content: 'hm' },
    { reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] },
    { thinking: 'hm' },
    { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '' } }] },
    { function_call: { name: 'f' } },
    { audio: { data: 'AAAA' } },
    { images: [{ image_url: { url: 'data:' } }] },
  ])('has output where a client can use it: %j', (delta) => {
    expect(withDelta(delta)?.hasOutput).toBe(true);
  });

  it.each([
    {},
    { role: 'assistant' },
    { role: 'assistant', content: '' },
    { role: 'assistant', content: null, refusal: null, tool_calls: [] },
    { content: '', reasoning_content: '', reasoning: null, reasoning_details: [] },
    // What some providers open every stream with, before the model said anything.
    { role: 'assistant', content: '', id: 'msg_1', type: 'message', name: 'assistant' },
    { role: 'assistant', content: '', provider_specific_fields: { service_tier: 'default' } },
  ])('has none before the model spoke: %j', (delta) => {
    expect(withDelta(delta)?.hasOutput).toBe(false);
  });

  it('has output where it ends a choice', () => {
    expect(withDelta({}, { finish_reason: 'stop' })?.hasOutput).toBe(true);
    expect(withDelta({}, { finish_reason: null })?.hasOutput).toBe(false);
    expect(withDelta({}, { finish_reason: '' })?.hasOutput).toBe(false);
  });

  it('is usage only without any choice', () => {
    const usage = { prompt_tokens: 1 };
    expect(factsOf({ choices: [], usage })).toMatchObject({ isUsageOnly: true, usage });
    expect(factsOf({ usage })?.isUsageOnly).toBe(true);
    expect(factsOf({ choices: [{ delta: {} }], usage })?.isUsageOnly).toBe(false);
    expect(factsOf({ choices: [], usage: null })?.isUsageOnly).toBe(false);
    expect(factsOf({ choices: [], prompt_filter_results: [] })?.isUsageOnly).toBe(false);
  });

  it.each([
    { error: { message: 'x' } },
    { error: 'x' },
    { choices: [{ delta: {} }], error: { code: 'x' } },
    // The form of vLLM and its like.
    { object: 'error', message: 'x', code: 400 },
  ])('is an error whatever its form: %j', (chunk) => {
    expect(factsOf(chunk)?.error).toBeDefined();
  });

  it('is no error for a member that says there is none', () => {
    expect(factsOf({ choices: [], error: null })?.error).toBeUndefined();
  });

  it.each(['', '[DONE', 'null', '7', '"text"', '[]', '{', '{"a":}'])(
    'is none where it is no JSON object: %s',
    (text) => {
      expect(readStreamChunk(text)).toBeUndefined();
    },
  );

  it('counts the bytes of what was said, not of the form it is in', () => {
    expect(withDelta({ role: 'assistant', content: 'é' })?.outputBytes).toBe(2);
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'ab', arguments: '{}' } };
    expect(withDelta({ tool_calls: [call] })?.outputBytes).toBe(4);
    expect(factsOf({ choices: [{ delta: { content: 'ab' } }, { delta: { content: 'c' } }] })?.outputBytes).toBe(3);
  });

  it('never throws, whatever its members are', () => {
    const strange = [
      { choices: 7 },
      { choices: [null, 7, 'x', []] },
      { choices: [{ delta: 7 }] },
      { choices: {}, usage: 7 },
    ];
    for (const chunk of strange) expect(factsOf(chunk)?.hasOutput).toBe(false);
  });
});
