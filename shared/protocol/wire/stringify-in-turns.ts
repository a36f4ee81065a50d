// A value with long texts as JSON, piece by piece: V8 quotes a text at once, and takes 70 ms for 27 MB of escapes.

/** Quoted in a few milliseconds. */
const pieceMaxCharacters = 1024 * 1024;

/** What JSON.stringify makes of it. A text that stands in it twice is quoted once. `nextTurn`: awaited behind each piece. */
export async function stringifyInTurns(value: object, nextTurn: () => Promise<void>): Promise<string> {
  const standIns = new Map<unknown, string>();
  const quoted: string[] = [];
  for (const text of longTextsIn(value)) {
    if (standIns.has(text)) continue;
    standIns.set(text, `\u0000${quoted.length}`);
    quoted.push(await quote(text, nextTurn));
  }
  if (quoted.length === 0) return JSON.stringify(value);
  const short = JSON.stringify(
    value,
    (_name, member) => (typeof member === 'string' && standIns.get(member)) || member,
  );
  // A model that writes a stand-in as a text of its own gets what it has written elsewhere.
  return short
    .split(/"\\u0000(\d+)"/)
    .map((piece, index) => (index % 2 === 0 ? piece : (quoted[Number(piece)] ?? 'null')))
    .join('');
}

function* longTextsIn(value: object): Generator<string> {
  for (const member of Object.values(value)) {
    if (typeof member === 'string' && member.length > pieceMaxCharacters) yield member;
    else if (typeof member === 'object' && member !== null) yield* longTextsIn(member);
  }
}

async function quote(text: string, nextTurn: () => Promise<void>): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    // Half a pair would be written as an escape.
    const to = from + pieceMaxCharacters + (isFirstHalf(text.charCodeAt(from + pieceMaxCharacters - 1)) ? 1 : 0);
    pieces.push(JSON.stringify(text.slice(from, to)).slice(1, -1));
    from = to;
    await nextTurn();
  }
  return `"${pieces.join('')}"`;
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
