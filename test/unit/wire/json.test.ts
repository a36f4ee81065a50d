import fc from 'fast-check';
import { describe, expect, it, jest } from '#jest';
import { canonicalJson } from '../../../shared/foundation/ids/index.ts';
import { inOneTurn } from '../../../shared/foundation/time/index.ts';
import {
  chatCompletions,
  readChatRequest,
  withoutReasoning,
} from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { textWithoutReasoning } from '../../../shared/protocol/interfaces/chat-completions/provider-answer.ts';
import {
  canonicalText,
  jsonTextOf,
  parseInTurns,
  parseJson,
  readJsonBody,
  readRequestBody,
  readUnambiguousBody,
  rewriteMembers,
  stringifyInTurns,
} from '../../../shared/protocol/wire/index.ts';
import { scanJson } from '../../../shared/protocol/wire/scan-json.ts';
import { inTurns } from '../../support/in-turns.ts';

describe('the body of a request', () => {
  const read = (text: string) => readJsonBody(Buffer.from(text));

  const kindOf = (text: string) => read(text).kind;
  const numberList = (count: number) => `[${new Array(count).fill(0)}]`;

  it('is not deep for a long string of brackets, nor for many lists beside each other', () => {
    expect(kindOf(`{"a":"${'[{'.repeat(10_000)}"}`)).toBe('object');
    expect(kindOf(`{"a":"\\\\\\"${'['.repeat(10_000)}"}`)).toBe('object');
    expect(kindOf(`{"a":[${'[],'.repeat(10_000)}1]}`)).toBe('object');
  });

  it('may hold 100,000 values and no more, itself among them', () => {
    expect(kindOf(`{"a":${numberList(99_998)}}`)).toBe('object');
    expect(kindOf(`{"a":${numberList(99_999)}}`)).toBe('unreadable');
    const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":{}`)}}`;
    expect([kindOf(members(99_999)), kindOf(members(100_000))]).toEqual(['object', 'unreadable']);
    const empty = (count: number) => `{"a":[${new Array(count).fill('[ ]')}]}`;
    expect([kindOf(empty(99_998)), kindOf(empty(99_999))]).toEqual(['object', 'unreadable']);
  });

  it('may hold lists of any length, but of 256 items inside the fields of the gateway', () => {
    const request = (text: string) => readRequestBody(Buffer.from(text), chatCompletions);
    expect(request(`{"provider":{"only":${numberList(256)}}}`).kind).toBe('text');
    expect(request(`{"provider":{"only":${numberList(257)}}}`)).toMatchObject({
      kind: 'unreadable',
      error: { code: 'invalid_request', param: 'provider' },
    });
    expect(request(`{"cache":{"unknown":[[${numberList(257)}]]}}`).kind).toBe('unreadable');
    expect(request(`{"messages":${numberList(5_000)},"cache":{"a":[]},"stop":${numberList(257)}}`).kind).toBe('text');
    expect(kindOf(`{"provider":${numberList(257)}}`)).toBe('object');
  });

  it('is counted as a parser counts it', () => {
    const countValues = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, member) => sum + countValues(member), 1)
        : 1;
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const [values, depth] = [countValues(value), depthOf(value)];
        expect(scanJson(text, { depthMax: depth, valuesMax: values }).kind).toBe('json');
        expect(scanJson(text, { depthMax: depth, valuesMax: values - 1 })).toMatchObject({ fault: { kind: 'values' } });
        if (depth > 0) expect(scanJson(text, { depthMax: depth - 1 })).toMatchObject({ fault: { kind: 'depth' } });
      }),
    );
  });

  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"b":{"c":[{"d":1,"\\u0064":2}]}}', 'b.c[0].d'],
    ['{"__proto__":1,"x":[],"__proto__":1}', '__proto__'],
  ])('with a repeated member is refused if a change must be plain: %s', (text, param) => {
    const read = readUnambiguousBody(Buffer.from(text));
    expect(read).toMatchObject({ kind: 'unreadable', error: { code: 'invalid_request', param } });
    expect(readJsonBody(Buffer.from(text)).kind).toBe('object');
    expect(readUnambiguousBody(Buffer.from('{"a":{"b":1},"b":[{"b":1},{"b":1}]}')).kind).toBe('object');
  });

  it('keeps half a character that was written as an escape', () => {
    expect(read('{"a":"\ud83d\ude80 \\ud83d"}')).toEqual({ kind: 'object', value: { a: '\ud83d\ude80 \ud83d' } });
  });
});

describe('JSON text', () => {
  const bounds = { depthMax: 64 };
  const accepts = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const jsonText = fc
    .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'))
    .map(([value, indent]) => JSON.stringify(value, null, indent));

  it('is accepted exactly if a parser accepts it', () => {
    const odd = [
      '01',
      '-',
      '1.',
      '.5',
      '1e',
      '1e+',
      '-0.0e-9',
      '"\\x"',
      '"\\u12g4"',
      '"\u0001"',
      '"a\nb"',
      '[1,]',
      '{"a"}',
      '{"a":1,}',
    ];
    const ends = ['"', '\\"', '\n"', '\u0085"', '\\u00e9"', '\\"\\"x"', '\\x"', ''];
    const long = [23, 24, 25, 200].flatMap((length) => ends.map((end) => `"${'a'.repeat(length)}${end}`));
    const escapes = ['\\n', '\\u0001', '\\na'].flatMap((one) => [`"${one.repeat(2_000)}"`, `"${one.repeat(2_000)}\n"`]);
    const others = ['nul', 'truefalse', '[1 2]', '{1:2}', '', ' ', '"', '\ufeff1', '\u00a01', '1 2', '{"a":1}}', '["a'];
    for (const text of [...odd, ...long, ...escapes, ...others]) {
      expect([text, scanJson(text, bounds).kind === 'json']).toEqual([text, accepts(text)]);
    }
    const damaged = fc.tuple(
      jsonText,
      fc.nat(),
      fc.constantFrom('', ',', '"', '\\', '0', 'e', ']', '}', ' ', '\u0000'),
    );
    fc.assert(
      fc.property(damaged, ([text, where, put]) => {
        const at = where % (text.length + 1);
        const changedText = text.slice(0, at) + put + text.slice(at + 1);
        expect(scanJson(changedText, bounds).kind === 'json').toBe(accepts(changedText));
      }),
    );
  });

  it('has the bytes of its compact form, whatever its blanks and escapes are', () => {
    fc.assert(
      fc.property(jsonText, fc.boolean(), (text, escapes) => {
        const escapedText = escapes
          ? text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : text;
        const scanned = scanJson(escapedText, bounds);
        const bytes = Buffer.byteLength(JSON.stringify(JSON.parse(escapedText)));
        if (/[\ud800-\udfff]/.test(text)) return;
        expect(scanned.kind === 'json' && scanned.json.compactBytes).toBe(bytes);
      }),
    );
  });

  it('is searched from its beginning to its end once, in a few searches, however its strings are made', () => {
    const { test } = RegExp.prototype;
    for (const line of [`\\n${'a'.repeat(80)}`, `\x7f${'a'.repeat(80)}`, `\\"${'a'.repeat(80)}`]) {
      const text = `["${line.repeat(1_000)}"]`;
      let searched = 0;
      const search = jest.spyOn(RegExp.prototype, 'test').mockImplementation(function (this: RegExp, from) {
        searched -= this.lastIndex;
        const found = test.call(this, from);
        searched += this.lastIndex;
        return found;
      });
      const { kind } = scanJson(text, bounds);
      const searches = search.mock.calls.length;
      search.mockRestore();
      expect(kind).toBe('json');
      expect(searches).toBeLessThan(5);
      expect(searched).toBeLessThanOrEqual(text.length);
    }
  });

  it('becomes the value that a parser makes of it, in pieces between which others have the event loop', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        const json = jsonTextOf(value);
        expect(await parseInTurns(json)).toEqual(parseJson(json.text));
      }),
    );
    const many = (write: (index: number) => string) =>
      Array.from({ length: 3 * inOneTurn.jsonValues }, (_one, index) => write(index));
    const long = [
      `{${many((index) => `"m${index % 29_999}":${index}`)},"__proto__":{"d":12345678901234567890}}`,
      `{"a":[${many((index) => `{"b":${index}}`)}],"__proto__":[${many(String)}],"c":"${'x'.repeat(600_000)}","d":{}}`,
      `[[],${many(() => '1e99')},{}]`,
    ];
    for (const text of long) {
      const scanned = scanJson(text, bounds);
      if (scanned.kind !== 'json') throw new Error('not accepted');
      const { read: value, turns } = await inTurns(() => parseInTurns(scanned.json));
      expect(JSON.stringify(value)).toBe(JSON.stringify(parseJson(text)));
      expect(turns).toBeGreaterThanOrEqual(4);
    }
  });

  it('is written of a value with long texts as at once, in pieces, one that is in it twice in those of one', async () => {
    const piece = inOneTurn.jsonCharacters;
    const long = [`${'x'.repeat(piece - 1)}😀"\n`, '\ud800'.repeat(piece + 1), '\u00000'];
    const turns: number[] = [];
    // These texts and names look like the placeholder of a long text.
    const odd = { '\u0000': ['\u00000', '\u0000', '"\u0000', '"\u00000'], '\u00000': '\u0000"', e: long[1] };
    const twice = { a: [long[0], { b: long[0] }], c: 1, d: undefined };
    for (const value of [...long.map((text) => ({ text })), twice, odd]) {
      const result = await inTurns(() => stringifyInTurns(value));
      expect(result.read === JSON.stringify(value)).toBe(true);
      turns.push(result.turns);
    }
    const [nothing = 0] = turns.slice(2);
    expect(turns.map((count) => count - nothing)).toEqual([2, 1, 0, 2, 1]);
  });

  it('has one canonical form, that of its value', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const scanned = scanJson(text, bounds);
        if (scanned.kind !== 'json') throw new Error('not accepted');
        const value = JSON.parse(text) as unknown;
        expect(JSON.parse(canonicalText(scanned.json))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalText(scanned.json)).toBe(canonicalText(jsonTextOf(JSON.parse(canonicalJson(value)))));
      }),
    );
    const formOf = (text: string) => canonicalText(jsonTextOf(parseJson(text)));
    expect(formOf('{"a":1.0,"b":1e2,"\\u0063":"\\u0064"}')).toBe('{"a":1,"b":100,"c":"d"}');
    expect(formOf('[9007199254740993,1e99]')).toBe('[9007199254740993,1e99]');
  });

  it('keeps every number as it was written wherever it is parsed', () => {
    const text =
      '{"a":[1,{"b":12345678901234567890}],"x1e23":"1e99","c":1e99,"__proto__":{"d":[9007199254740993]},"e":0.5}';
    expect(JSON.stringify(parseJson(text))).toBe(text);
    expect(JSON.stringify(parseJson('{"a":1e99,"a":3,"b":[1e99],"b":"x"}'))).toBe('{"a":3,"b":"x"}');
  });

  it('keeps the digits of every number where it is parsed, however long, and wherever it begins', () => {
    const digits = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.nat({ max: 40 }), fc.stringMatching(/^[a-z]{0,20}$/));
    fc.assert(
      fc.property(fc.array(digits, { maxLength: 5 }), (numbers) => {
        const items = numbers.map(([digit, more, word]) => `"${word}",${digit}${String(digit).repeat(more)}`);
        const text = `[${items.join(',')}]`;
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
    );
  });

  it('is rewritten field by field: what is not changed stays as it was sent', () => {
    const scanned = scanJson('{"a": 1.0 ,"\\u0062":2,"c":{"d" : 1e99},"e":3}', bounds);
    if (scanned.kind !== 'json') throw new Error('not accepted');
    expect(
      rewriteMembers(
        scanned.json,
        new Map<string, unknown>([
          ['b', undefined],
          ['e', [4]],
          ['f', 5],
        ]),
      ),
    ).toBe('{"a": 1.0,"c":{"d" : 1e99},"e":[4],"f":5}');
    expect(rewriteMembers(jsonTextOf({}), new Map([['b', undefined]]))).toBe('{}');
  });

  it.each([
    ['model', '{"model":"a","messages":[{"role":"user"}],"mod\\u0065l":"b"}'],
    ['messages[1].content', '{"model":"a","messages":[{"role":"user"},{"role":"user","content":"a","content":"b"}]}'],
  ])('in which %s occurs twice is refused: a provider might read the other one', (param, text) => {
    const body = readRequestBody(Buffer.from(text), chatCompletions);
    if (body.kind !== 'text') throw new Error('not accepted');
    expect(readChatRequest(body.json)).toMatchObject({ code: 'invalid_request', param });
  });
});

describe('a provider’s JSON answer', () => {
  it.each(['', 'null', '7', '[]', '{}', '{"choices":[]}', '{"choices":null}', '{"choices":[{}]', '<html>', 'data: {}'])(
    'is unreadable without one: %s',
    async (text) => {
      expect((await chatCompletions.readAnswer(text)).kind).toBe('unreadable');
    },
  );

  it('is refused beyond 100,000 values, found without reading on', async () => {
    const answer = (values: number) => `{"choices":[{}],"x":[${new Array(values - 4).fill('{}')}]}`;
    expect([
      (await chatCompletions.readAnswer(answer(100_000))).kind,
      (await chatCompletions.readAnswer(answer(100_001))).kind,
    ]).toEqual(['answer', 'refused']);
    const parse = jest.spyOn(JSON, 'parse');
    expect((await chatCompletions.readAnswer(answer(5_000_000))).kind).toBe('refused');
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('loses reasoning in every choice, and nothing else, as a value and as the text that is written', async () => {
    const choice = (message: object) => ({ index: 0, message, finish_reason: 'stop' });
    const body = {
      id: 'x',
      choices: [choice({ content: 'a', reasoning: 'b', reasoning_content: 'c', reasoning_details: [] }), choice({}), 7],
      usage: { reasoning_tokens: 1 },
    };
    const strip = async (answer: object) => {
      const json = jsonTextOf(answer);
      const strippedText = textWithoutReasoning(json, new Map([['usage', { cost: 1 }]]));
      return [JSON.parse((await withoutReasoning(json)).text), JSON.parse(strippedText)];
    };
    const chunk = { id: 'x', choices: [choice({ content: 'a' }), choice({}), 7] };
    expect(await strip(body)).toEqual([
      { ...chunk, usage: body.usage },
      { ...chunk, usage: { cost: 1 } },
    ]);
    expect(await strip({ choices: 'odd' })).toEqual([{ choices: 'odd' }, { choices: 'odd', usage: { cost: 1 } }]);
  });
});
