// Guardrails in the process: what each kind finds, and what remains after a mask.
import * as fc from 'fast-check';
import { describe, expect, it } from '#jest';
import type { PersonalType } from '../../../shared/configuration/catalogue/index.ts';
import { compilePattern } from '../../../shared/foundation/patterns/index.ts';
import { wordFinder } from '../../../shared/routing/guardrails/find-words.ts';
import { type TextGuardrail, textGuardrail } from '../../../shared/routing/guardrails/text-guardrail.ts';
import { newKey } from '../../support/gateway-file.ts';

const matchMaxCharacters = 1_024;

/** A pattern reads a long text in pieces of this length. */
const pieceCharacters = 4_096;

const rules = { on: ['input', 'output'], on_failure: 'block', timeout_ms: 5_000, window_characters: 1_000 } as const;
const common = { ...rules, on: [...rules.on] };
const words = (wordList: string[], action: 'block' | 'mask' = 'mask', id = 'names'): TextGuardrail => ({
  ...{ ...common, id, kind: 'words', words: wordList, action },
});
const patterns = (
  patternList: { name: string; regex: string }[],
  action: 'block' | 'mask' = 'mask',
): TextGuardrail => ({
  ...{ ...common, id: 'codes', kind: 'patterns', patterns: patternList, action },
});
const pii = (...types: PersonalType[]): TextGuardrail => ({
  ...common,
  id: 'personal',
  kind: 'pii',
  types,
  action: 'mask',
});

const ask = (guardrail: TextGuardrail, ...texts: string[]) =>
  textGuardrail(guardrail)({ direction: 'input', texts, callId: 'c', signal: new AbortController().signal });

async function masked(guardrail: TextGuardrail, text: string): Promise<string> {
  const answer = await ask(guardrail, text);
  return answer.action === 'mask' ? (answer.texts[0] ?? '') : text;
}

describe('words', () => {
  it.each([
    ['as they are written', ['secret'], 'a secret.', 'a [names].'],
    ['in any case', ['Straße', 'ΣΟΦΟΣ'], 'STRASSE straße σοφος', '[names] [names] [names]'],
    ['in another composition of their letters', ['café'], 'the cafe\u0301!', 'the [names]!'],
    ['with invisible characters in them', ['secret'], 'se\u200bcr\u00adet', '[names]'],
    ['with any white space between their parts', ['new york'], 'New\u00a0\n\tYork', '[names]'],
    ['between marks', ['secret'], '_secret_ **secret** (secret)', '_[names]_ **[names]** ([names])'],
    ['with marks in them', ['C++', 'AT&T'], 'C++, at&t', '[names], [names]'],
    ['of a script without spaces', ['禁止'], '被禁止的', '被[names]的'],
  ])('are found %s', async (_how, wordList, text, maskedText) => {
    expect(await masked(words(wordList), text)).toBe(maskedText);
  });

  it.each([
    ['in a longer word', ['art'], 'artist start'],
    ['without the white space between their parts', ['new york'], 'newyork new-york'],
    ['with white space in them', ['newyork'], 'new york'],
  ])('are not found %s', async (_how, wordList, text) => {
    expect(await ask(words(wordList), text)).toEqual({ action: 'pass' });
  });

  it('that overlap leave nothing of each other, and the mask of a longer one stays', async () => {
    expect(await masked(words(['new york', 'york city', 'new york city']), 'new york city')).toBe('[names]');
    expect(await masked(words(['new york', 'york city']), 'new york city hall')).toBe('[names] hall');
  });

  it('that are the name of their guardrail stay masked when they are checked again', async () => {
    const guardrail = words(['secret'], 'mask', 'secret');
    const once = await masked(guardrail, 'a secret here');
    expect(once).toBe('a [secret] here');
    expect(await ask(guardrail, once)).toEqual({ action: 'pass' });
  });

  it('block without being named', async () => {
    const answer = await ask(words(['secret'], 'block'), 'fine', 'a secret');
    expect(answer).toEqual({ action: 'block', message: 'The text has a word that is not allowed.' });
  });

  it('are found wherever they are among others, and nothing else is', async () => {
    const wordList = ['alpha', 'beta gamma', 'delta'];
    const filler = fc.constantFrom('one', 'two', 'alphabet', 'beta', 'gammas');
    const part = fc.oneof(filler, fc.constantFrom(...wordList));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 40 }), async (parts) => {
        const expected = parts.map((one) => (wordList.includes(one) ? '[names]' : one)).join(' . ');
        expect(await masked(words(wordList), parts.join(' . '))).toBe(expected);
      }),
    );
  });
});

describe('patterns', () => {
  it('mask what they match by their names', async () => {
    const guardrail = patterns([
      { name: 'order', regex: 'A-\\d{4}' },
      { name: 'project', regex: '(?i)\\bproject \\w+' },
    ]);
    expect(await masked(guardrail, 'A-1234 of Project Apollo')).toBe('[order] of [project]');
  });

  it('that overlap are masked by the name of the longer', async () => {
    const guardrail = patterns([
      { name: 'short', regex: 'abc' },
      { name: 'long', regex: 'bcdef' },
    ]);
    expect(await masked(guardrail, 'x abcdef y')).toBe('x [long] y');
  });

  it('that match no character change nothing', async () => {
    expect(await ask(patterns([{ name: 'any', regex: 'x*' }]), 'abc')).toEqual({ action: 'pass' });
  });

  it('find the same however the text is cut into pieces', async () => {
    const pattern = compilePattern('\\bk[0-9😀]+z\\b');
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: pieceCharacters - matchMaxCharacters - 600, max: pieceCharacters + 10 }),
        fc.integer({ min: 1, max: 500 }),
        async (before, length) => {
          const match = `k${'1😀'.repeat(length / 3 + 1)}z`;
          const text = `${'é '.repeat(before / 2)}${match} ${'. '.repeat(pieceCharacters)}${match}s ${match}`;
          const found = [...pattern.spansIn(text)].filter((span) => span !== undefined);
          expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([match, match]);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('find a match whole that is longer than the pieces have in common', () => {
    const before = pieceCharacters - matchMaxCharacters - 50;
    const text = `${' '.repeat(before)}${'a'.repeat(2_000)} b`;
    const found = [...compilePattern('a+').spansIn(text)].filter((span) => span !== undefined);
    expect(found).toEqual([{ start: before, end: before + 2_000 }]);
  });

  it('follow a match through pieces to its end, wherever it begins', () => {
    for (const before of [0, 1, pieceCharacters - 10, pieceCharacters + 7]) {
      const length = 5 * pieceCharacters;
      const text = `${' '.repeat(before)}x${'a'.repeat(length)} b xa`;
      const found = [...compilePattern('xa+').spansIn(text)].filter((span) => span !== undefined);
      const end = before + 1 + length;
      expect(found).toEqual([
        { start: before, end },
        { start: end + 3, end: end + 5 },
      ]);
    }
  });

  it('see each part of a text a bounded number of times, whatever they are', () => {
    for (const regex of ['(a+)+$', 'a.*z', '(?s).*', 'b+', 'a{3}']) {
      const text = 'a'.repeat(64 * pieceCharacters);
      const steps = [...compilePattern(regex).spansIn(text)].filter((one) => one === undefined).length;
      expect([regex, steps <= (4 / 3) * 64 + 2]).toEqual([regex, true]);
    }
  });
});

it('words of a text take a step each few thousand characters', () => {
  const text = 'one two three '.repeat(10_000);
  const found = [...wordFinder(['two three', 'one two'])(text)];
  expect(found.filter((one) => one !== undefined)).toHaveLength(20_000);
  expect(found.filter((one) => one === undefined).length).toBeLessThanOrEqual(text.length / 4_096);
});

it('a check ends when its call does', async () => {
  const ended = new AbortController();
  ended.abort();
  const question = { direction: 'input', texts: ['a '.repeat(200_000)], callId: 'c', signal: ended.signal } as const;
  await expect(textGuardrail(words(['b']))(question)).rejects.toThrow('ended');
});

describe('personal data', () => {
  const random = (length: number) => 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'.repeat(10).slice(0, length);

  it.each<readonly [PersonalType, string, string]>([
    ['email', 'to ann.b+x@mail.example.co.uk.', 'to [email].'],
    ['email', 'jörg@bücher.example, x', '[email], x'],
    ['phone', 'call +49 (0) 30 123-4567!', 'call [phone]!'],
    ['phone', '+15550100199 20241231', '[phone] 20241231'],
    ['card', '4111 1111 1111 1111 123', '[card] 123'],
    ['card', '4111-1111-1111-1111, 378282246310005', '[card], [card]'],
    ['iban', 'IBAN DE89 3704 0044 0532 0130 00 is mine', 'IBAN [iban] is mine'],
    ['iban', 'is12 gb82west12345698765432.', 'is12 [iban].'],
    ['ip', 'from 192.168.0.1, 10.0.0.1:8080', 'from [ip], [ip]:8080'],
    ['ip', '[2001:db8::1]:443 and 2001:db8::. ::ffff:1.2.3.4', '[[ip]]:443 and [ip]. [ip]'],
    ['credential', `AKIA${'A2B3'.repeat(4)} x`, '[credential] x'],
    ['credential', `aws_secret_access_key = ${'aB3/'.repeat(10)}`, 'aws_[credential]'],
    ['credential', `ghp_${random(36)} github_pat_${random(82)}`, '[credential] [credential]'],
    ['credential', `sk-proj-${random(60)} sk-${random(48)}`, '[credential] [credential]'],
    ['credential', `"sk-ant-api03-${random(93)}-AA"`, '"[credential]"'],
    ['credential', `AIza${random(35)} ya29.${random(40)}`, '[credential] [credential]'],
  ])('of type %s is masked: %s', async (type, text, maskedText) => {
    expect(await masked(pii(type), text)).toBe(maskedText);
    expect(await ask(pii(type), maskedText)).toEqual({ action: 'pass' });
  });

  it.each<readonly [PersonalType, string]>([
    ['email', 'user@host @ann a@b'],
    ['phone', '030 1234567, 1+49301234567, +999 12, +4'],
    ['card', '4111 1111 1111 1112, 1732834567890, x4111111111111111, 41111111111111111111111'],
    ['iban', 'DE88 3704 0044 0532 0130 00, DE893704004405320130001, ZZ89370400440532013000'],
    ['ip', '1.2.3.4.5, 256.1.1.1, 12:30:45, std::dec, ::, v1.2.3'],
    ['credential', `sk-short task-${random(40)} AKIA123 ${random(80)}`],
  ])('of type %s is not seen in %s', async (type, text) => {
    expect(await ask(pii(type), text)).toEqual({ action: 'pass' });
  });

  it('of this gateway is its key', async () => {
    const key = newKey();
    expect(await masked(pii('credential'), `Bearer ${key}.`)).toBe('Bearer [credential].');
  });

  it('is found by its check digits alone, for every card', async () => {
    const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 15, maxLength: 15 });
    await fc.assert(
      fc.asyncProperty(digits, fc.integer({ min: 1, max: 9 }), async ([, ...rest], wrong) => {
        const body = `4${rest.join('')}`;
        const check = [...Array(10).keys()].find((last) => luhn(`${body}${last}`)) ?? 0;
        expect(await masked(pii('card'), `${body}${check}`)).toBe('[card]');
        expect(await ask(pii('card'), `${body}${(check + wrong) % 10}`)).toEqual({ action: 'pass' });
      }),
    );
  });
});

/** The test uses a table, unlike the source. */
const doubled = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
const luhn = (digits: string): boolean =>
  [...digits].reduce(
    (sum, digit, at) => sum + ((digits.length - at) % 2 === 0 ? (doubled[Number(digit)] ?? 0) : Number(digit)),
    0,
  ) %
    10 ===
  0;
