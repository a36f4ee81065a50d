import { describe, expect, it } from '@jest/globals';
import { readJsonAnswer, readJsonBody, withoutReasoning } from '../../../shared/protocol/wire/index.ts';

describe('a provider’s JSON answer', () => {
  it('is one with a choice, whatever else it carries', () => {
    expect(readJsonAnswer('{"choices":[{"message":{"content":"é"}}],"x":1}')).toMatchObject({
      kind: 'answer',
      answer: { body: { x: 1 }, usage: undefined, outputBytes: 2 },
    });
    expect(readJsonAnswer(' \n\n{"choices":[{}],"error":null} ').kind).toBe('answer');
  });

  it.each(['', 'null', '7', '[]', '{}', '{"choices":[]}', '{"choices":null}', '{"choices":[{}]', '<html>', 'data: {}'])(
    'is unreadable without one: %s',
    (text) => {
      expect(readJsonAnswer(text).kind).toBe('unreadable');
    },
  );

  it.each(['{"error":{"message":"x"}}', '{"error":"x","choices":[{}]}', '{"object":"error","message":"x","code":400}'])(
    'is an error where it says so, with a status of 200 or not: %s',
    (text) => {
      expect(readJsonAnswer(text).kind).toBe('error');
    },
  );

  it('loses reasoning in every choice, and nothing else', () => {
    const choice = (message: object) => ({ index: 0, message, finish_reason: 'stop' });
    const body = {
      id: 'x',
      choices: [choice({ content: 'a', reasoning: 'b', reasoning_content: 'c', reasoning_details: [] }), choice({}), 7],
      usage: { reasoning_tokens: 1 },
    };
    expect(withoutReasoning(body)).toEqual({ ...body, choices: [choice({ content: 'a' }), choice({}), 7] });
    expect(withoutReasoning({ choices: 'odd' })).toEqual({ choices: 'odd' });
  });
});

describe('the body of a request', () => {
  const read = (text: string) => readJsonBody(Buffer.from(text));

  it('may nest 128 deep and no deeper, however long a string of brackets it holds', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(read(nested(128)).kind).toBe('object');
    expect(read(nested(129)).kind).toBe('unreadable');
    expect(read(`{"a":"${'[{'.repeat(10_000)}"}`).kind).toBe('object');
    expect(read(`{"a":"\\\\\\"${'['.repeat(10_000)}"}`).kind).toBe('object');
    expect(read(`{"a":${'[],'.repeat(10_000)}1}`).kind).toBe('unreadable');
    expect(read(`{"a":[${'[],'.repeat(10_000)}1]}`).kind).toBe('object');
  });

  it('is UTF-8, with nothing replaced on the way', () => {
    expect(readJsonBody(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toMatchObject({ kind: 'unreadable' });
    expect(read('{"a":"\ud83d\ude80 \\ud83d"}')).toEqual({ kind: 'object', value: { a: '\ud83d\ude80 \ud83d' } });
  });
});
