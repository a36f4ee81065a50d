// Guardrails on bodies with as many values, texts and escapes as they may have: each is visited a few times, and other
// work has the event loop in between.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { inOneTurn } from '../../../shared/foundation/time/index.ts';
import { commonSettings, textsOfRequest, withTexts } from '../../../shared/protocol/interfaces/model-texts.ts';
import { scanJson } from '../../../shared/protocol/wire/index.ts';
import { unescapeInTurns } from '../../../shared/routing/guardrails/check-texts.ts';
import { gather } from '../../../shared/routing/guardrails/guard.ts';
import { inTurns } from '../../support/in-turns.ts';

const jsonOf = (body: unknown) => {
  const scanned = scanJson(JSON.stringify(body), { depthMax: 64 });
  if (scanned.kind !== 'json') throw new Error('a body of a test is no JSON');
  return scanned.json;
};
const many = <One>(count: number, make: (at: number) => One) => Array.from({ length: count }, (_one, at) => make(at));

/** Unescapes a text with one rule for all escapes. */
const unescaped = (text: string) =>
  text.replaceAll(/\\(?:u([\da-fA-F]{4})|(.))/gs, (_whole, code: string | undefined, letter: string) =>
    code === undefined
      ? ({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }[letter] ?? letter)
      : String.fromCharCode(parseInt(code, 16)),
  );

describe('arguments of a tool call', () => {
  it('of a million escapes are unescaped in turns', async () => {
    const text = String.raw`\n\u00e4\\`.repeat(350_000);
    const { read, turns } = await inTurns(() => unescapeInTurns()(text));
    expect(read).toBe('\nä\\'.repeat(350_000));
    expect(turns).toBeGreaterThanOrEqual(text.length / inOneTurn.jsonCharacters - 1);
  });

  it('of many calls are, however short each is', async () => {
    const read = unescapeInTurns();
    const { turns } = await inTurns(async () => {
      for (let call = 0; call < 10_000; call += 1) expect(await read('{"a":"\\\\n"}'.repeat(10))).toContain('\\n');
    });
    expect(turns).toBeGreaterThanOrEqual(2);
  });

  it('mean the same wherever an escape begins, ends or is cut', async () => {
    const piece = fc.constantFrom(
      '\\',
      'u',
      'n',
      '"',
      'a',
      '0',
      'F',
      'ä',
      '\u2028',
      '\\u',
      '\\u00e4',
      '\\ud83d',
      '\ud83d',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 4_060, max: 4_100 }),
        async (pieces, before) => {
          const text = pieces.join('');
          const long = `\\n${'x'.repeat(before)}${text}`;
          expect(await unescapeInTurns()(text)).toBe(unescaped(text));
          expect(await unescapeInTurns()(long)).toBe(unescaped(long));
        },
      ),
    );
  });
});

describe('texts of a body are gathered in turns', () => {
  it.each([
    ['messages without a text', { messages: many(45_000, () => ({ role: 'user' })) }, 0],
    ['tools without a field', { tools: many(90_000, () => ({})) }, 0],
    ['fields that encode something', { messages: many(20_000, () => ({ type: 'base64', data: 'AA', x: 1 })) }, 0],
    ['names of a schema', { tools: [{ parameters: Object.fromEntries(many(30_000, (at) => [`f${at}`, 1])) }] }, 30_000],
    ['short texts', { messages: many(24_000, () => ({ role: 'user', content: 'a' })) }, 24_000],
  ])('%s', async (_what, body, found) => {
    const json = jsonOf(body);
    const { read, turns } = await inTurns(() => gather(textsOfRequest(json, commonSettings)));
    expect(read).toHaveLength(found);
    expect(turns).toBeGreaterThanOrEqual(Math.floor(json.next(0) / (8 * 2_048)) - 1);
  });
});

it('a mask of 12,000 signed texts drops their items, looks at each value a few times, and reports the first 32', () => {
  const block = (at: number) => ({ type: 'thinking', thinking: `a${at}`, signature: 's' });
  const json = jsonOf({
    messages: [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: many(12_000, block) },
    ],
  });
  const found = [...textsOfRequest(json, commonSettings)].filter((one) => one !== undefined);
  let looks = 0;
  const inside = json.inside.bind(json);
  Object.defineProperty(json, 'inside', {
    value: function* (value: number) {
      for (const inner of inside(value)) {
        looks += 1;
        yield inner;
      }
    },
  });
  const masked = withTexts(
    json,
    found,
    found.map(({ text }) => (text === 'Hi.' ? text : '[mask]')),
  );
  expect(JSON.parse(masked?.text ?? '')).toEqual({
    messages: [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: [] },
    ],
  });
  expect(masked?.dropped).toEqual(many(32, (at) => `messages[1].content[${at}]`));
  expect(looks).toBeLessThan(10 * json.next(0));
});
