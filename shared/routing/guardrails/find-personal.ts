// Finds personal data and credentials in a text, by their form and their check digits.
import { isIP } from 'node:net';
import type { PersonalType } from '../../configuration/catalogue/index.ts';
import { compilePattern, type MatchReading, type TextSpan } from '../../foundation/patterns/index.ts';
import type { FindSpans } from './find-words.ts';

interface PersonalForm {
  readonly source: string;
  readonly read: (text: string, match: TextSpan) => MatchReading;
}

export const personalFinder = (type: PersonalType): FindSpans => {
  const { source, read } = forms[type];
  const pattern = compilePattern(source);
  return (text) => pattern.spansIn(text, read);
};

const nothing = (next: number): MatchReading => ({ spans: [], next });
const one = (start: number, end: number): MatchReading => ({ spans: [{ start, end }], next: end });

const isAlphanumeric = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);
const isDigit = (character: string | undefined): boolean => character !== undefined && /\d/.test(character);

/** Returns a match that is not part of a longer word or number. */
function wholeKey(text: string, { start, end }: TextSpan): MatchReading {
  const isPart = isAlphanumeric(text[start - 1]) || isAlphanumeric(text[end]);
  return isPart ? nothing(start + 1) : one(start, end);
}

/** Matches one space or hyphen between groups. */
const separators = '[ \\x{00a0}\\-]';

/** Matches country codes of the ITU. */
const countryCode =
  '(?:1|7|2(?:0|7|[1-689]\\d)|3(?:[0-469]|[578]\\d)|4(?:[013-9]|2\\d)|5(?:[1-8]|[09]\\d)|6(?:[0-6]|[7-9]\\d)|8(?:[1246]|[0578]\\d)|9(?:[0-58]|[679]\\d))';
/** Digits of a number in E.164; the least that a country has with its code. */
const phoneDigits = { min: 7, max: 15 } as const;

/** Returns the longest number of whole groups of digits, because a year may follow the number. */
function readPhone(text: string, { start, end }: TextSpan): MatchReading {
  if (isAlphanumeric(text[start - 1])) return nothing(end);
  let digits = 0;
  let found: TextSpan | undefined;
  for (const { 0: group, index } of text.slice(start, end).matchAll(/\d+/g)) {
    digits += group.length;
    const groupEnd = start + index + group.length;
    if (digits >= phoneDigits.min && digits <= phoneDigits.max && !isDigit(text[groupEnd]))
      found = { start, end: groupEnd };
  }
  return found === undefined ? nothing(end) : one(start, found.end);
}

const cardDigits = { min: 13, max: 19 } as const;

/** Returns the longest numbers of whole groups with a valid check digit, in a sequence of groups of digits. */
function readCards(text: string, { start, end }: TextSpan): MatchReading {
  const groups = [...text.slice(start, end).matchAll(/\d+/g)];
  const spans: TextSpan[] = [];
  for (let first = 0; first < groups.length; first += 1) {
    let digits = '';
    let best: { readonly last: number; readonly span: TextSpan } | undefined;
    for (let last = first; last < groups.length; last += 1) {
      const [group] = groups[last] as RegExpExecArray;
      digits += group;
      if (digits.length > cardDigits.max) break;
      if (digits.length < cardDigits.min || !isCardNumber(digits)) continue;
      const from = start + (groups[first]?.index ?? 0);
      best = { last, span: { start: from, end: start + (groups[last]?.index ?? 0) + group.length } };
    }
    if (best === undefined) continue;
    spans.push(best.span);
    first = best.last;
  }
  const alone = spans.filter((span) => !isAlphanumeric(text[span.start - 1]) && !isAlphanumeric(text[span.end]));
  return { spans: alone, next: end };
}

/** True for a number of a card issuer with Luhn's check digit. */
function isCardNumber(digits: string): boolean {
  if (!/^[2-6]/.test(digits)) return false;
  let sum = 0;
  for (const [at, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** Characters of an IBAN by country, from SWIFT's registry. */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  [
    ...'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20'.split(
      ' ',
    ),
    ...'EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30'.split(
      ' ',
    ),
    ...'KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23'.split(
      ' ',
    ),
    ...'PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26'.split(
      ' ',
    ),
    ...'UA29 VA22 VG24 XK20 YE30'.split(' '),
  ].map((written) => [written.slice(0, 2), Number(written.slice(2))]),
);

/** Reads an IBAN, whose beginning is the match. */
function readIban(text: string, { start }: TextSpan): MatchReading {
  const length = ibanLengths.get(text.slice(start, start + 2).toUpperCase());
  if (length === undefined || isAlphanumeric(text[start - 1])) return nothing(start + 1);
  let characters = '';
  let end = start;
  while (characters.length < length) {
    const isSeparator = characters !== '' && /[ \u00a0-]/.test(text[end] ?? '');
    const character = text[isSeparator ? end + 1 : end] ?? '';
    if (!/[A-Za-z0-9]/.test(character)) return nothing(start + 1);
    characters += character.toUpperCase();
    end += isSeparator ? 2 : 1;
  }
  return !isAlphanumeric(text[end]) && hasIbanCheck(characters) ? one(start, end) : nothing(start + 1);
}

/** True if the check digits of ISO 7064, MOD 97-10, are right. */
function hasIbanCheck(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}

/**
 * Reads an address. The match is a sequence of characters that occur in addresses; a sentence may end with the address.
 */
function readIp(text: string, { start, end }: TextSpan): MatchReading {
  const written = text.slice(start, end).replace(/[.:]+$/, '');
  // An address may end with two colons.
  const address = [text.slice(start, end), `${written}::`, written].find(
    (spelling) => text.startsWith(spelling, start) && isIP(spelling) !== 0 && /[\da-f]/i.test(spelling),
  );
  const isPart = isAlphanumeric(text[start - 1]) || isAlphanumeric(text[end]);
  return address === undefined || isPart ? nothing(end) : one(start, start + address.length);
}

const hex = '[0-9A-Fa-f]';

/** Matches keys by their prefixes, and secrets of AWS by their names. */
const credentials = [
  // AWS
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}',
  'ABSK[A-Za-z0-9+/]{40,}={0,2}',
  'bedrock-api-key-[A-Za-z0-9+/]{40,}={0,2}',
  '(?i:(?:secret_?access_?key|session_?token)["\']?\\s*[=:]\\s*["\']?)[A-Za-z0-9+/]{40,}={0,2}',
  // GitHub
  'gh[oprsu]_[A-Za-z0-9_]{36,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  // Anthropic, OpenAI
  'sk-ant-[A-Za-z0-9_\\-]{20,}',
  'sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_\\-]{20,}',
  'sk-[A-Za-z0-9]{32,}',
  // Google
  'AIza[A-Za-z0-9_\\-]{35,}',
  'AQ\\.[A-Za-z0-9_\\-]{30,}',
  'ya29\\.[A-Za-z0-9_\\-]{20,}',
  'GOCSPX-[A-Za-z0-9_\\-]{20,}',
  // This gateway
  'sk-gw-[A-Za-z0-9]{16}-[A-Za-z0-9]{49,}',
];

const forms: Readonly<Record<PersonalType, PersonalForm>> = {
  email: {
    source: `[\\p{L}\\p{N}._%+\\-]+@(?:[\\p{L}\\p{N}][\\p{L}\\p{N}\\-]*\\.)+(?:xn--[A-Za-z0-9\\-]+|\\p{L}{2,})`,
    read: (_text, { start, end }) => one(start, end),
  },
  phone: { source: `\\+${countryCode}(?:[ \\x{00a0}()./\\-]{0,3}\\d){4,14}`, read: readPhone },
  card: { source: `\\d(?:${separators}?\\d){12,}`, read: readCards },
  iban: { source: `[A-Za-z]{2}\\d{2}${separators}?[A-Za-z0-9]`, read: readIban },
  ip: {
    source: `\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.[\\d.]+|${hex}*:${hex}*:[${hex.slice(1, -1)}:.]*`,
    read: readIp,
  },
  credential: { source: credentials.join('|'), read: wholeKey },
};
