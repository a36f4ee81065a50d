import fc from 'fast-check';
import { describe, expect, it, jest } from '#jest';
import { checkAnswer, checkValue } from '../../../shared/protocol/json-schema/index.ts';

const step = {
  type: 'object',
  properties: { explanation: { type: 'string' }, output: { type: ['string', 'null'] } },
  required: ['explanation', 'output'],
  additionalProperties: false,
};
const reasoning = {
  type: 'object',
  properties: {
    steps: { type: 'array', items: { $ref: '#/$defs/step' } },
    next: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
  },
  required: ['steps', 'next'],
  additionalProperties: false,
  $defs: { step },
};

describe('an answer that satisfies its schema', () => {
  it('keeps a fence that stands inside a text', async () => {
    const text = JSON.stringify({ code: '```json\n{}\n```' });
    expect(await checkAnswer({}, text)).toEqual({ kind: 'valid', text });
  });

  it('comes back as any JSON was written, with or without a fence', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 5 }), async (text) => {
        const expected = { kind: 'valid', text: text.trim() };
        expect(await checkAnswer(true, text)).toEqual(expected);
        expect(await checkAnswer({}, `\`\`\`json\n${text}\n\`\`\``)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });
});

describe('an answer that does not satisfy its schema', () => {
  it.each<[string, string]>([
    ['', 'is empty'],
    ['```json\n```', 'is empty'],
    ['Sure! {"steps":[],"next":null}', 'is not JSON'],
    ['{"steps":[],"next":nu', 'is not JSON'],
    ['{"steps":[],"next":null}{}', 'is not JSON'],
    ['null', 'its root'],
    ['{"steps":[]}', '"next"'],
    ['{"steps":[],"next":null,"more":1}', '/more: is not allowed here'],
    ['{"steps":[{"explanation":"","output":5}],"next":null}', '/steps/0/output: '],
    ['{"steps":[],"next":{"steps":[],"next":{}}}', '/next: '],
  ])('is invalid and says why: %s', async (answer, problem) => {
    const checked = await checkAnswer(reasoning, answer);
    expect(checked).toEqual({
      kind: 'invalid',
      problem: expect.stringContaining(problem),
      mismatch: expect.stringMatching(/^\/.*: ./),
    });
  });

  it('is invalid beyond its bounds, even where everything is allowed', async () => {
    expect(await checkAnswer({}, `"${'x'.repeat(1024 * 1024)}"`)).toMatchObject({
      problem: expect.stringContaining('longer'),
    });
    expect(await checkAnswer({}, '['.repeat(257) + ']'.repeat(257))).toMatchObject({ kind: 'invalid' });
    expect(await checkAnswer({}, '['.repeat(500_000))).toMatchObject({ kind: 'invalid' });
    expect(await checkAnswer({}, '['.repeat(256) + ']'.repeat(256))).toMatchObject({ kind: 'valid' });
  });

  it('is not parsed on the event loop where it is large: a parser cannot be interrupted', async () => {
    const parse = jest.spyOn(JSON, 'parse');
    const parsed = async (length: number) => {
      parse.mockClear();
      const checked = await checkAnswer({ type: 'integer' }, JSON.stringify(`MARK${'x'.repeat(length)}`));
      expect(checked).toEqual({ kind: 'invalid', problem: expect.stringContaining('its root'), mismatch: '/: type' });
      return parse.mock.calls.some(([text]) => String(text).includes('MARK'));
    };
    expect([await parsed(200_000), await parsed(300_000)]).toEqual([true, false]);
    parse.mockRestore();
  });

  it('does not repeat itself in the problem beyond a short text', async () => {
    const answer = JSON.stringify({ ['x'.repeat(10_000)]: 1 });
    const checked = await checkAnswer({ additionalProperties: false }, answer);
    expect(JSON.stringify(checked).length).toBeLessThan(500);
  });
});

describe('a parsed value', () => {
  it('is named with the place of its first problem', async () => {
    expect(await checkValue(reasoning, { steps: [], next: null })).toBeUndefined();
    expect(await checkValue(reasoning, { steps: [{ explanation: 1, output: null }], next: null })).toEqual({
      path: '/steps/0/explanation',
      message: expect.any(String),
      mismatch: '/steps/0/explanation: type',
    });
  });

  it('may hold numbers that were kept as text', async () => {
    const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
    const value = { seed: rawJson('12345678901234567890') };
    expect(await checkValue({ properties: { seed: { type: 'integer' } } }, value)).toBeUndefined();
    expect(await checkValue({ properties: { seed: { type: 'string' } } }, value)).toMatchObject({ path: '/seed' });
  });

  it('is refused when it is no JSON or nests without end', async () => {
    expect(await checkValue({}, undefined)).toMatchObject({ path: '' });
    let deep: unknown = 0;
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(await checkValue({}, deep)).toMatchObject({ message: expect.stringContaining('nests deeper') });
  });
});
