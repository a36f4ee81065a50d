import { describe, expect, it, jest } from '#jest';
import { readJsonAnswer, withoutReasoning } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { jsonTextOf } from '../../../shared/protocol/wire/index.ts';

describe('a provider’s JSON answer', () => {
  it('is one with a choice, whatever else it carries', () => {
    const text = '{"choices":[{"message":{"content":"é"}}],"x":1}';
    const usage = undefined;
    expect(readJsonAnswer(text)).toMatchObject({ kind: 'answer', answer: { json: { text }, usage, outputBytes: 2 } });
    expect(readJsonAnswer(' \n\n{"choices":[{}],"error":null} ').kind).toBe('answer');
  });

  it.each(['', 'null', '7', '[]', '{}', '{"choices":[]}', '{"choices":null}', '{"choices":[{}]', '<html>', 'data: {}'])(
    'is unreadable without one: %s',
    (text) => {
      expect(readJsonAnswer(text).kind).toBe('unreadable');
    },
  );

  it('is unreadable with more choices than a request can ask for', () => {
    const answer = (choices: number) => JSON.stringify({ choices: new Array(choices).fill({ message: {} }) });
    expect([readJsonAnswer(answer(128)).kind, readJsonAnswer(answer(129)).kind]).toEqual(['answer', 'unreadable']);
  });

  it('is unreadable beyond 100,000 values, found without reading on', () => {
    const answer = (values: number) => `{"choices":[{}],"x":[${new Array(values - 4).fill('{}')}]}`;
    expect([readJsonAnswer(answer(100_000)).kind, readJsonAnswer(answer(100_001)).kind]).toEqual([
      'answer',
      'unreadable',
    ]);
    const parse = jest.spyOn(JSON, 'parse');
    expect(readJsonAnswer(answer(5_000_000)).kind).toBe('unreadable');
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it.each([0.5, -1, 128, 1e99, '0', {}])('is unreadable with a choice whose index is none: %j', (index) => {
    expect(readJsonAnswer(JSON.stringify({ choices: [{ index, message: {} }] })).kind).toBe('unreadable');
  });

  it.each([0, 127, null, undefined])('is an answer with a choice of index %j', (index) => {
    expect(readJsonAnswer(JSON.stringify({ choices: [{ index, message: {} }] })).kind).toBe('answer');
  });

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
    const strip = (answer: object) => JSON.parse(withoutReasoning(jsonTextOf(answer)).text) as unknown;
    expect(strip(body)).toEqual({ ...body, choices: [choice({ content: 'a' }), choice({}), 7] });
    expect(strip({ choices: 'odd' })).toEqual({ choices: 'odd' });
  });
});
