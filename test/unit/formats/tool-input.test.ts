// Arguments of tool calls as inputs: always an object, and the same whole and in pieces.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { createInputWriter } from '../../../shared/protocol/hub/tool-input.ts';

function inputText(text: string): string {
  const input = createInputWriter();
  return input.add(text) + input.end();
}

const inPieces = (text: string, cuts: readonly number[]): string => {
  const input = createInputWriter();
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b);
  const outputs = [0, ...places].map((from, at) => input.add(text.slice(from, places[at] ?? text.length)));
  return outputs.join('') + input.end();
};

const cuts = fc.array(fc.nat(), { maxLength: 12 });
const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }), { noNullPrototype: true });
const spaced = object.chain((value) => fc.constantFrom(0, 2, '\t').map((space) => JSON.stringify(value, null, space)));
/** JSON as models break it: cut off, with a part that is no JSON, or with more after its end. */
const brokenJson = fc
  .tuple(spaced, fc.nat(), fc.constantFrom('', 'NaN', "'a'", '{"b":2}', '\\x', '}', ']', ',,', ' so', '\u0000', '"'))
  .map(([text, at, more]) => text.slice(0, at % (text.length + 1)) + more);

describe('an input', () => {
  it('that is an object is what it was, but for blanks between its parts', () => {
    fc.assert(
      fc.property(spaced, cuts, (text, places) => {
        expect(inPieces(text, places)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
    for (const text of ['{"a":1.50,"b":-0,"c":1e400,"__proto__":{"x":"\\u00e9"}}', '{"n":12345678901234567890}'])
      expect(inPieces(text, [3, 9, 17])).toBe(text);
  });

  it('is an object whatever the model wrote, and the same in any pieces', () => {
    fc.assert(
      fc.property(fc.oneof(brokenJson, fc.string({ unit: 'binary' })), cuts, (text, places) => {
        const output = inPieces(text, places);
        expect(output).toBe(inputText(text));
        const input: unknown = JSON.parse(output);
        expect([typeof input, Array.isArray(input), input]).toEqual(['object', false, expect.anything()]);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['', {}],
    [' \n', {}],
    ['[1]', { raw_input: '[1]' }],
    ['so', { raw_input: 'so' }],
    ['{"n": NaN}', { raw_input: '{"n": NaN}' }],
    ['{"a": 1, "n": NaN}', { a: 1, raw_input: '{"a": 1, "n": NaN}' }],
    ['{"a": 1}{"b": 2}', { a: 1, raw_input: '{"a": 1}{"b": 2}' }],
    ['{"a": 1} so', { a: 1, raw_input: '{"a": 1} so' }],
    ['{"path": "/tmp/x', { path: '/tmp/x', raw_input: '{"path": "/tmp/x' }],
    ['{"a": [1, {"b": "c', { a: [1, { b: 'c' }], raw_input: '{"a": [1, {"b": "c' }],
    ['{"a": 1,}', { a: 1, raw_input: '{"a": 1,}' }],
    ["{'a': 1}", { raw_input: "{'a': 1}" }],
    ['\u00a0{"a": 1}', { raw_input: '\u00a0{"a": 1}' }],
    // Models write unescaped line ends in long texts.
    ['{"a": "one\ntwo"}', { a: 'one\ntwo' }],
    [`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, expect.objectContaining({ raw_input: expect.any(String) })],
  ])('that is none is closed where it breaks, and whole beside it: %j', (text, input) => {
    expect(JSON.parse(inputText(text))).toEqual(input);
  });

  it('brings a long text as it comes', () => {
    const input = createInputWriter();
    expect([input.add('{"content": "One'), input.add(' two'), input.add('\\'), input.add('n"}'), input.end()]).toEqual([
      '{"content":"One',
      ' two',
      '',
      '\\n"',
      '}',
    ]);
  });

  it('with a number of more digits than any has is closed before it, however it comes', () => {
    const text = `{"a":1,"b":${'1'.repeat(2_000)}}`;
    for (const pieces of [[text], [...text]]) {
      const writer = createInputWriter();
      const output = pieces.map((piece) => writer.add(piece)).join('') + writer.end();
      expect(JSON.parse(output)).toEqual({ a: 1, raw_input: text });
    }
  });

  it('of any length takes time that grows with it', () => {
    const text = `{"a":"${'x'.repeat(1_000_000)}","b":[${'1,'.repeat(50_000)}1]}`;
    expect(
      inPieces(
        text,
        Array.from({ length: 5_000 }, (_, at) => at * 199),
      ),
    ).toBe(text);
  });
});
