// Defines the common parts of the answers and events of all interfaces: bounds, errors, output size.
import {
  jsonValuesMax,
  largeBodyMaxBytes,
  upstreamBodyMaxBytes,
  upstreamErrorMaxBytes,
} from '../../foundation/constants/index.ts';
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import type { ReadAnswer } from '../wire/index.ts';
import {
  endOfBrackets,
  findMember,
  type JsonText,
  parseJson,
  pick,
  scanJson,
  type UsageReport,
} from '../wire/index.ts';
import { charactersWithoutLogprobs, findLogprobs } from './large-answer.ts';
import { membersOf } from './read-members.ts';

/**
 * Bounds above any real answer. Because of these bounds, every reader of an answer may recurse. Log probabilities are
 * not parsed, and each list of them is one value.
 */
const answerBounds = { depthMax: 512, valuesMax: jsonValuesMax, unread: new Set(['logprobs']) };
const boundsWith = (unreadEnds: ReadonlyMap<number, number> | undefined) =>
  unreadEnds === undefined ? answerBounds : { ...answerBounds, unreadEnds };
/** Length up to which every text is within the bounds, because it can neither be nested deeper nor have more values. */
export const shortEventCharacters = 2 * answerBounds.depthMax;

/** Returns undefined for a text that is not a JSON object, or exceeds the bounds of an answer. */
export function scanAnswer(text: string, unreadEnds?: ReadonlyMap<number, number>): JsonText | undefined {
  const scanned = scanJson(text, boundsWith(unreadEnds));
  return scanned.kind === 'json' && scanned.json.isObject(0) ? scanned.json : undefined;
}

/** Scans a text that was accepted before. */
export function answerJson(text: string): JsonText {
  const scanned = scanJson(text, answerBounds);
  if (scanned.kind !== 'json') throw new Error('an answer that was read is no JSON');
  return scanned.json;
}

/** True for JSON that exceeds the bounds of an answer. */
export const isBeyondBounds = (text: string, unreadEnds?: ReadonlyMap<number, number>): boolean =>
  scanJson(text, boundsWith(unreadEnds)).kind === 'fault';

/**
 * Scans a long text, and reads the found values, each in a separate turn of the event loop. `charactersMax` is the
 * limit of the text without log probabilities.
 */
export async function readInTurns<Read>(
  text: string,
  read: (json: JsonText) => Read,
  charactersMax = upstreamBodyMaxBytes,
): Promise<Read | undefined> {
  const isLong = text.length > inOneTurn.jsonCharacters;
  if (isLong) await nextTurn();
  const ends = isLong ? await findLogprobs(text) : undefined;
  if (charactersWithoutLogprobs(text, ends) > charactersMax) return undefined;
  const json = scanAnswer(text, ends);
  if (json === undefined) return undefined;
  if (isLong) await nextTurn();
  return read(json);
}

/**
 * Reads a provider's answer. `readUsage` reads the billed usage from an answer that is not passed on; absent if nothing
 * is charged.
 */
export async function readAnswerIn(
  text: string,
  read: (json: JsonText) => ReadAnswer,
  readUsage?: UsageReading,
  usageMember?: string,
): Promise<ReadAnswer> {
  const short = text.length > inOneTurn.jsonCharacters ? undefined : scanAnswer(text);
  const answer = short === undefined ? await readInTurns(text, read) : read(short);
  return answer ?? (readUsage === undefined ? { kind: 'unreadable' } : readUnscanned(text, readUsage, usageMember));
}

/** Scans an answer again that was accepted before, and has been changed. */
export async function rescanAnswer(text: string): Promise<JsonText> {
  const json = await readInTurns(text, (scanned) => scanned, largeBodyMaxBytes);
  if (json === undefined) throw new Error('an answer that was changed is no JSON');
  return json;
}

/** Reads the usage of an answer that is not passed on. `readUsage` is the interface's own reader. */
async function readUnscanned(text: string, readUsage: UsageReading, usageMember = 'usage'): Promise<ReadAnswer> {
  await nextTurn();
  const ends = await findLogprobs(text);
  const isLong = charactersWithoutLogprobs(text, ends) > upstreamBodyMaxBytes;
  if (!isLong && !isBeyondBounds(text, ends)) return { kind: 'unreadable' };
  await nextTurn();
  return { kind: 'refused', refused: { usage: readUsage(lastObjectIn(text, usageMember)), outputBytes: text.length } };
}

export type UsageReading = (usage: unknown) => UsageReport | undefined;

/**
 * Returns the last field of this name, if it is an object, found without the structure around it. Text of a model is
 * never mistaken for the field, because inside a string a backslash precedes each quotation mark.
 */
export function lastObjectIn(text: string, name: string): unknown {
  const at = text.lastIndexOf(`"${name}"`);
  const start = at < 0 ? -1 : text.indexOf('{', at);
  const end = start < 0 ? -1 : endOfBrackets(text, start, start + usageMaxCharacters);
  return end < 0 ? undefined : parsedOrNothing(text.slice(start, end));
}

function parsedOrNothing(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const packageErrorOf = { code: {}, type: {}, status: {}, param: {}, message: {} };
const errorShape = membersOf({ ...packageErrorOf, object: {}, error: membersOf(packageErrorOf) });

/**
 * Reads an error that comes with a success status in the same way as an error with an error status. From a longer error
 * only the part that classifies it is read.
 */
export const readErrorObject = (json: JsonText): unknown =>
  json.text.length <= upstreamErrorMaxBytes ? JSON.parse(json.text) : pick(json, 0, errorShape);

/** Returns the bytes of all strings in a value, except in fields of these names. */
export function textBytesIn(json: JsonText, value: number, leftOut: ReadonlySet<string>): number {
  const end = json.next(value);
  let bytes = 0;
  for (let inner = value; inner < end; ) {
    const isLeftOut = inner !== value && leftOut.has(json.quotedName(inner).slice(1, -1));
    if (!isLeftOut && json.isString(inner)) bytes += stringBytes(json.slice(inner));
    inner = isLeftOut ? json.next(inner) : inner + 1;
  }
  return bytes;
}

/** Does the same for a parsed value. It recurses within the depth of an answer. */
export function textBytesOf(value: unknown, leftOut: ReadonlySet<string>): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  for (const name of Object.keys(value)) {
    if (!leftOut.has(name)) bytes += textBytesOf((value as Record<string, unknown>)[name], leftOut);
  }
  return bytes;
}

const stringBytes = (quoted: string): number =>
  quoted.includes('\\') ? Buffer.byteLength(JSON.parse(quoted) as string) : Buffer.byteLength(quoted) - 2;

/**
 * Maximum length of a usage, which is ten times the length of any provider's usage. A longer object does not count as
 * usage.
 */
const usageMaxCharacters = 16 * 1024;

/** Returns the value of the usage, if it is an object. */
export function readUsageMember(json: JsonText, name = 'usage'): unknown {
  const member = findMember(json, name);
  if (member === undefined || json.end(member) - json.start(member) > usageMaxCharacters) return undefined;
  return parseJson(json.slice(member));
}
