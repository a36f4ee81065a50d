// A stream of Gemini as its package can read it: events bounded, and in pieces where one holds so many parts that the package,
// which reads an event at once, would hold up others.
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { nextTurn } from '../../../../foundation/time/index.ts';
import { scanAnswer } from '../../../../protocol/interfaces/index.ts';
import {
  findMember,
  type JsonText,
  readEvents,
  replaceValues,
  rewriteMembers,
} from '../../../../protocol/wire/index.ts';
import { listPieces, longCharacters } from './answer-pieces.ts';
import { type Bytes, eventBytes } from './body-members.ts';

/** `readable`: of an event, or a piece of one, what the package gets. */
export async function* geminiEvents(bytes: AsyncIterable<Uint8Array>, readable: (text: string) => string): Bytes {
  for await (const events of readEvents(bytes, upstreamEventMaxBytes)) {
    if (events.every(({ text }) => text.length <= longCharacters)) {
      yield eventBytes(events.map(({ name, text }) => ({ name, text: readable(text) })));
      continue;
    }
    for (const { name, text } of events) {
      for (const piece of piecesOf(text)) {
        yield eventBytes([{ name, text: readable(piece) }]);
        await nextTurn();
      }
    }
  }
}

/**
 * The package makes of the pieces what it makes of the event, or the answer: what ends it, and what it used, stands in the last one
 * only. `hasHead`: what says nothing of parts stands in a piece of its own before.
 */
export function* piecesOf(text: string, hasHead = true): Generator<string> {
  const json = text.length > longCharacters ? scanAnswer(text) : undefined;
  const list = json && partsIn(json);
  const pieces = json === undefined || list === undefined ? [] : [...listPieces(json, list)];
  if (json === undefined || list === undefined || pieces.length === 0) {
    yield text;
    return;
  }
  // By itself: of an error, or a prompt that is blocked, the package reads no part.
  if (hasHead) yield rewriteMembers(json, withoutEnd);
  for (const piece of pieces) {
    yield piece.isLast
      ? replaceValues(json, [[list, piece.text]])
      : `{"candidates":[{"content":{"parts":${piece.text}}}]}`;
  }
}

const withoutEnd: ReadonlyMap<string, undefined> = new Map([
  ['candidates', undefined],
  ['usageMetadata', undefined],
]);

/** The list of parts of the first candidate: the package reads no other. */
function partsIn(json: JsonText): number | undefined {
  const list = findMember(json, 'candidates');
  const candidate = list !== undefined && json.isArray(list) && json.next(list) > list + 1 ? list + 1 : undefined;
  const content = candidate === undefined ? undefined : memberOf(json, 'content', candidate);
  const parts = content === undefined ? undefined : memberOf(json, 'parts', content);
  return parts !== undefined && json.isArray(parts) ? parts : undefined;
}

const memberOf = (json: JsonText, name: string, object: number): number | undefined =>
  json.isObject(object) ? findMember(json, name, object) : undefined;
