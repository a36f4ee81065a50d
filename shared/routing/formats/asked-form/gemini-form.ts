// A whole answer of Gemini, and its chunks: each chunk is an answer of its own, and a whole one may be a list of them.
import {
  type EventReader,
  membersOf,
  ParsedEvent,
  parseEvent,
  type ReadAnswer,
  readInTurns,
  readUnscanned,
} from '../../../protocol/interfaces/index.ts';
import {
  findMember,
  isBrokenEnd,
  isEndWord,
  isJsonObject,
  type JsonText,
  parseJson,
  pick,
  stringifyInTurns,
} from '../../../protocol/wire/index.ts';
import { type AnswerFold, type AnswerForm, emptyFields, type Fields, itemsOf } from './answer-form.ts';

export const geminiForm: AnswerForm = {
  openReader,
  readAnswer,
  spread: (json) => chunksOf(json).map((text) => ({ text })),
  openFold: foldChunks,
};

/** Name for the list of chunks, which has none itself. */
const listName = 'chunks';

async function readAnswer(text: string): Promise<ReadAnswer> {
  const object = isList(text) ? `{"${listName}":${text}}` : text;
  return (await readInTurns(object, readChunks)) ?? readUnscanned(object, () => undefined);
}

/** Without `alt=sse` a stream is such a list. */
export const isList = (text: string): boolean => /^\s*\[/.test(text);

async function readChunks(json: JsonText): Promise<ReadAnswer> {
  const chunks = readableIn(pick(json, 0, { members: new Map([...chunkMembers, [listName, { items: chunkShape }]]) }));
  const failed = chunks.find(({ error }) => isJsonObject(error));
  if (failed !== undefined) return { kind: 'error', error: { error: failed.error } };
  const word = chunks
    .flatMap(candidatesIn)
    .map(({ finishReason }) => finishReason)
    .find(isBrokenEnd);
  if (word !== undefined) return { kind: 'error', error: { error: { code: word } } };
  const isAnswer = chunks.some(({ candidates, promptFeedback }) => (candidates ?? promptFeedback) !== undefined);
  if (!isAnswer) return { kind: 'unreadable' };
  return { kind: 'answer', answer: { text: json.text, json, usage: undefined, outputBytes: 0 } };
}

const errorShape = membersOf({ code: {}, type: {}, status: {}, message: {} });
const chunkShape = membersOf({
  error: errorShape,
  promptFeedback: {},
  candidates: { items: membersOf({ finishReason: {} }) },
});
const chunkMembers = [...(chunkShape.members ?? [])];

function readableIn(read: unknown): Fields[] {
  const { [listName]: list = [read] } = read as Fields;
  return (Array.isArray(list) ? list : []).filter(isJsonObject);
}

/** The texts of the chunks of a whole answer that was read. */
export function chunksOf(json: JsonText): readonly string[] {
  const list = findMember(json, listName);
  return list === undefined ? [json.text] : itemsOf(json, list).map((chunk) => json.slice(chunk));
}

const noDetails = { hasOutput: false, isLast: false, usage: undefined, outputBytes: 0 };

/** A stream is complete where its candidate has ended, or its prompt was blocked. */
function openReader(): EventReader {
  let isComplete = false;
  return {
    read({ name, text }) {
      const chunk = parseEvent(text);
      if (chunk === undefined) return { kind: 'unreadable' };
      if (isJsonObject(chunk.error)) return { kind: 'error', error: chunk };
      isComplete ||= isJsonObject(chunk.promptFeedback) && isEndWord(chunk.promptFeedback.blockReason);
      isComplete ||= candidatesIn(chunk).some(({ finishReason }) => isEndWord(finishReason));
      return { kind: 'event', event: new ParsedEvent(name, text, noDetails) };
    },
    isComplete: () => isComplete,
  };
}

const candidatesIn = ({ candidates }: Fields): Fields[] =>
  (Array.isArray(candidates) ? candidates : []).filter(isJsonObject);

interface FoldedCandidate {
  readonly beside: Fields;
  readonly content: Fields;
  readonly parts: unknown[];
}

function foldChunks(): AnswerFold {
  const head = emptyFields();
  const candidates = new Map<unknown, FoldedCandidate>();

  function addCandidate({ content, ...beside }: Fields): void {
    const { index = 0 } = beside;
    const folded = candidates.get(index) ?? { beside: emptyFields(), content: emptyFields(), parts: [] };
    candidates.set(index, folded);
    Object.assign(folded.beside, beside);
    if (!isJsonObject(content)) return;
    const { parts, ...rest } = content;
    Object.assign(folded.content, rest);
    for (const part of Array.isArray(parts) ? parts : []) addPart(folded.parts, part);
  }

  return {
    add(text) {
      const chunk = parseJson(text);
      if (!isJsonObject(chunk)) return;
      Object.assign(head, chunk);
      for (const candidate of candidatesIn(chunk)) addCandidate(candidate);
    },
    whole(nextTurn) {
      const list = [...candidates.values()].map(({ beside, content, parts }) => ({
        ...beside,
        content: { ...content, parts },
      }));
      return stringifyInTurns({ ...head, ...(list.length === 0 ? {} : { candidates: list }) }, nextTurn);
    },
  };
}

/** Appends to the text before, where both parts have only text of the same kind. */
function addPart(parts: unknown[], part: unknown): void {
  const last = parts.at(-1);
  if (isPlainText(last) && isPlainText(part) && last.thought === part.thought) last.text += part.text;
  else parts.push(part);
}

function isPlainText(part: unknown): part is { text: string; thought?: unknown } {
  if (!isJsonObject(part) || typeof part.text !== 'string') return false;
  return Object.keys(part).every((name) => name === 'text' || name === 'thought');
}
