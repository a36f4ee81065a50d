import { describe, expect, it } from '#jest';
import { type Expectation, judgeCase } from '../../../shared/configuration/stored-functions/index.ts';

const schema = { type: 'object', required: ['label'], properties: { label: { enum: ['bug', 'wish'] } } };

describe('a test case', () => {
  it.each<[expect: Expectation, output: string]>([
    [{ contains: 'support' }, 'This is a support ticket.'],
    [{ equals: 'bug' }, ' bug\n'],
    [{ equals: { a: [1, 2], b: null } }, '```json\n{"b":null,"a":[1,2]}\n```'],
    [{ equals: 7 }, '7'],
    [{ equals: null }, 'null'],
    [{ schema }, '{"label":"bug"}'],
    [{ schema, contains: 'wish', equals: { label: 'wish' } }, '{"label":"wish"}'],
  ])('that expects %j passes with %j', async (expected, output) => {
    expect(await judgeCase(expected, output)).toEqual({ passed: true });
  });

  it.each<[expect: Expectation, output: string | undefined]>([
    [{ contains: 'support' }, 'This is a SUPPORT ticket.'],
    [{ equals: 'bug' }, 'bugs'],
    [{ equals: { a: 1 } }, '{"a":2}'],
    [{ equals: { a: 1 } }, 'no JSON'],
    [{ equals: 7 }, '"7"'],
    [{ schema }, '{"label":"other"}'],
    [{ schema }, 'bug'],
    [{ schema, contains: 'missing' }, '{"label":"bug"}'],
    [{ contains: '' }, undefined],
  ])('that expects %j fails with %j and says why', async (expected, output) => {
    expect(await judgeCase(expected, output)).toEqual({ passed: false, problem: expect.stringMatching(/\w/) });
  });
});
