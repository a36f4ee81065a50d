// A stream of Gemini in a form that its package can read: events bounded, and split where one has so many parts that
// the package, which reads an event at once, would block other calls.
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

/** `readable`: converts an event, or a piece of one, for the package. */
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
 * The package gets the same from the pieces as from the whole: finish reason and usage are in the last one only.
 * `hasHead`: fields beside the parts form a first piece of their own.
 */
export function* piecesOf(text: string, hasHead = true): Generator<string> {
  const json = text.length > longCharacters ? scanAnswer(text) : undefined;
  const list = json && partsIn(json);
  const pieces = json === undefined || list === undefined ? [] : [...listPieces(json, list)];
  if (json === undefined || list === undefined || pieces.length === 0) {
    yield text;
    return;
  }
  // By itself: the package reads no part of an error, or of a blocked prompt.
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
