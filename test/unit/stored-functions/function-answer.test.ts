import { describe, expect, it } from '#jest';
import { outputTextOf, toFunctionAnswer } from '../../../shared/configuration/stored-functions/index.ts';
import { jsonTextOf } from '../../../shared/protocol/wire/index.ts';
import { sumUsage } from '../../../shared/routing/billing/index.ts';

const facts = { functionId: 'f', revisionId: 'r2', fallbackUsed: true, executionId: '0192-id' };
const gw = { function_id: 'f', revision_id: 'r2', fallback_used: true, execution_id: '0192-id' };
const usage = { prompt_tokens: 1, cost: 0.1 };

describe('the answer of a function', () => {
  it('is the body of the provider with all its members, the usage of the execution, and gw', () => {
    const body = {
      id: 'x',
      model: 'upstream',
      choices: [{ index: 0 }],
      usage: { prompt_tokens: 9 },
      vendor: { a: 1 },
      gw: 'x',
    };
    const result = { kind: 'prompt', json: jsonTextOf(body) } as const;
    expect(JSON.parse(toFunctionAnswer(facts, result, usage))).toEqual({ ...body, usage, gw });
  });

  it('of a workflow is a chat.completion with the output as its only choice', () => {
    const result = { kind: 'workflow', output: 'done', model: 'gw/function/f@r2', nowMs: 1_800_000_000_999 } as const;
    expect(JSON.parse(toFunctionAnswer(facts, result, usage))).toEqual({
      id: 'chatcmpl-0192-id',
      object: 'chat.completion',
      created: 1_800_000_000,
      model: 'gw/function/f@r2',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'done', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage,
      gw,
    });
  });
});

describe('the text of an answer', () => {
  const answer = (message: unknown) => ({ choices: [{ message }] });

  it('is the content of the first choice, or the texts of its parts', () => {
    expect(outputTextOf(answer({ content: 'x' }))).toBe('x');
    const parts = [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(outputTextOf(answer({ content: parts }))).toBe('ab');
  });

  it('is not there in a refusal, a tool call, or no answer at all', () => {
    expect(outputTextOf(answer({ content: null, refusal: 'no' }))).toBeUndefined();
    expect(outputTextOf(answer({ tool_calls: [{}] }))).toBeUndefined();
    for (const body of [{}, { choices: [] }, { choices: 'x' }, { choices: [null] }]) {
      expect(outputTextOf(body)).toBeUndefined();
    }
  });
});

describe('the usage of several provider calls', () => {
  it('is the sum of their counts, details included', () => {
    expect(
      sumUsage([
        { prompt_tokens: 1, total_tokens: 3, prompt_tokens_details: { cached_tokens: 1 }, service: 'x' },
        undefined,
        { prompt_tokens: 10, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 2, audio_tokens: 4 } },
      ]),
    ).toEqual({
      prompt_tokens: 11,
      completion_tokens: 20,
      total_tokens: 3,
      prompt_tokens_details: { cached_tokens: 3, audio_tokens: 4 },
      service: 'x',
    });
  });

  it('is absent where no provider reported any', () => {
    expect(sumUsage([undefined, undefined])).toBeUndefined();
  });

  it('gives no credit for numbers that are none, and changes no prototype', () => {
    const hostile = JSON.parse('{"__proto__":{"prompt_tokens":5},"prompt_tokens":-9,"total_tokens":"7"}') as object;
    const sum = sumUsage([{ prompt_tokens: 2 }, { ...hostile }, { prompt_tokens: Number.NaN }]);
    expect(sum?.prompt_tokens).toBe(2);
    expect(({} as Record<string, unknown>).prompt_tokens).toBeUndefined();
  });
});
