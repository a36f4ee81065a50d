// Masks known secrets in a text that others wrote, in whatever form it contains them: raw, with the escapes of JSON,
// URLs or HTML, with nested escapes, and in pieces.

export const maskCharacter = '…';

/** Maximum depth of nested escapes. Deeper escapes are not written by accident. */
const decodingsMax = 3;
/**
 * Length of a secret's piece, in consecutive letters and digits, that is masked. Shorter pieces are too common in
 * ordinary words.
 */
const pieceLength = 8;

const escapes =
  /\\u\{?([\da-f]{4,6})\}?|\\x([\da-f]{2})|%([\da-f]{2})|&#x([\da-f]{1,6});?|&#(\d{1,7});?|&([a-z]{2,6});|\\(["\\/'])/gi;
const namedCharacters: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  plus: '+',
  equals: '=',
  lowbar: '_',
  period: '.',
  colon: ':',
};

/** A decoded text, and the position of each of its characters in the original. */
interface DecodedText {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

export const maskSecrets = (text: string, secrets: readonly string[]): string =>
  maskSecretsAcross([text], secrets)[0] ?? '';

/**
 * Masks the secrets in several parts, which are read as one text, so that a secret that is divided between them is
 * found. The work grows linearly with the text.
 */
export function maskSecretsAcross(parts: readonly string[], secrets: readonly string[]): string[] {
  const known = secrets.filter((secret) => secret !== '');
  if (known.length === 0) return [...parts];
  const whole = parts.join('');
  const isSecret = new Uint8Array(whole.length);
  for (const reading of readingsOf(whole)) {
    const plain = lettersAndDigits(reading);
    for (const secret of known) {
      markAll(reading, secret, isSecret);
      markPieces(plain, secret, isSecret);
    }
  }
  let start = 0;
  return parts.map((part) => {
    const from = start;
    start += part.length;
    return maskMarked(part, isSecret.subarray(from, start));
  });
}

function readingsOf(text: string): DecodedText[] {
  const positions = Array.from({ length: text.length }, (_, at) => at);
  const readings: DecodedText[] = [{ text, starts: positions, ends: positions.map((at) => at + 1) }];
  for (let decoded = 0; decoded < decodingsMax; decoded += 1) {
    const former = readings.at(-1) as DecodedText;
    const next = decode(former);
    if (next === undefined) break;
    readings.push(next);
  }
  return readings;
}

/** Returns undefined when the text has no escape. */
function decode({ text, starts, ends }: DecodedText): DecodedText | undefined {
  const pieces: string[] = [];
  const decodedStarts: number[] = [];
  const decodedEnds: number[] = [];
  let read = 0;
  const keep = (until: number) => {
    pieces.push(text.slice(read, until));
    for (; read < until; read += 1) {
      decodedStarts.push(starts[read] as number);
      decodedEnds.push(ends[read] as number);
    }
  };
  for (const match of text.matchAll(escapes)) {
    const character = characterOf(match);
    if (character === undefined) continue;
    keep(match.index);
    pieces.push(character);
    read = match.index + match[0].length;
    for (let unit = 0; unit < character.length; unit += 1) {
      decodedStarts.push(starts[match.index] as number);
      decodedEnds.push(ends[read - 1] as number);
    }
  }
  if (pieces.length === 0) return undefined;
  keep(text.length);
  return { text: pieces.join(''), starts: decodedStarts, ends: decodedEnds };
}

function characterOf([, unicode, byte, percent, hexadecimal, decimal, name, quoted]: RegExpExecArray):
  | string
  | undefined {
  if (quoted !== undefined) return quoted;
  if (name !== undefined) return namedCharacters[name.toLowerCase()];
  const code =
    decimal === undefined ? Number.parseInt(unicode ?? byte ?? percent ?? hexadecimal ?? '', 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/**
 * Returns only the letters and digits, in lower case, because some providers change case or insert characters between
 * the parts of a secret.
 */
function lettersAndDigits({ text, starts, ends }: DecodedText): DecodedText {
  const letterPlaces = [...text.matchAll(/[a-z\d]/gi)].map(({ index }) => index);
  return {
    text: letterPlaces
      .map((at) => text[at])
      .join('')
      .toLowerCase(),
    starts: letterPlaces.map((at) => starts[at] as number),
    ends: letterPlaces.map((at) => ends[at] as number),
  };
}

function markAll(reading: DecodedText, secret: string, isSecret: Uint8Array): void {
  for (let at = reading.text.indexOf(secret); at !== -1; at = reading.text.indexOf(secret, at + 1)) {
    mark(reading, at, secret.length, isSecret);
  }
}

function markPieces(plain: DecodedText, secret: string, isSecret: Uint8Array): void {
  const letters = secret.replace(/[^a-z\d]/gi, '').toLowerCase();
  const pieces = new Set<string>();
  for (let at = 0; at + pieceLength <= letters.length; at += 1) pieces.add(letters.slice(at, at + pieceLength));
  for (let at = 0; at + pieceLength <= plain.text.length; at += 1) {
    if (pieces.has(plain.text.slice(at, at + pieceLength))) mark(plain, at, pieceLength, isSecret);
  }
}

const mark = ({ starts, ends }: DecodedText, at: number, length: number, isSecret: Uint8Array): void =>
  void isSecret.fill(1, starts[at], ends[at + length - 1]);

function maskMarked(part: string, isSecret: Uint8Array): string {
  let result = '';
  for (let at = 0; at < part.length; at += 1) {
    if (isSecret[at] === 0) result += part[at];
    else if (isSecret[at - 1] !== 1) result += maskCharacter;
  }
  return result;
}
