// Reads a provider's answer of Converse from JSON. The reader is lenient, because an object with a message is an
// answer, and an unknown field changes nothing.
import {
  type AnswerDetails,
  findMember,
  isBrokenEnd,
  isEndWord,
  type JsonObject,
  type JsonText,
  pick,
  type ReadAnswer,
} from '../../wire/index.ts';
import { membersOf, readAnswerIn, readErrorObject, readUsageMember, textBytesIn } from '../index.ts';
import { readUsageReport } from './converse-usage.ts';

const factsShape = membersOf({ stopReason: {}, error: {}, message: {}, __type: {} });

export const readAnswer = (text: string): Promise<ReadAnswer> => readAnswerIn(text, readDetails, readUsageReport);

function readDetails(json: JsonText): ReadAnswer {
  const facts = pick(json, 0, factsShape) as JsonObject;
  const content = contentOf(json);
  if (content === undefined)
    return isError(facts) ? { kind: 'error', error: errorOf(json, facts) } : { kind: 'unreadable' };
  const brokenEnding = brokenEnd(facts);
  if (brokenEnding !== undefined) return { kind: 'error', error: brokenEnding };
  const usage = readUsageReport(readUsageMember(json));
  const outputBytes = textBytesIn(json, content, structuralNames);
  return { kind: 'answer', answer: { text: json.text, json, usage, outputBytes, ...answerDetails(facts) } };
}

/** Returns the list with the blocks of its message. */
function contentOf(json: JsonText): number | undefined {
  const output = findMember(json, 'output');
  const message = output === undefined ? undefined : findMember(json, 'message', output);
  const content = message === undefined ? undefined : findMember(json, 'content', message);
  return content !== undefined && json.isArray(content) ? content : undefined;
}

/** True for an error; AWS's errors have their text at the top level. */
const isError = ({ error, message, __type: type }: JsonObject): boolean =>
  [error, message, type].some((value) => (value ?? null) !== null);

const errorOf = (json: JsonText, { __type: type, message, error }: JsonObject): unknown =>
  (error ?? null) === null ? { error: { type, message } } : readErrorObject(json);

export const answerDetails = ({ stopReason: reason }: JsonObject): AnswerDetails => ({
  finishReasons: isEndWord(reason) ? [reason] : undefined,
});

/** Returns an end that means that the answer broke, as the provider's error. */
export const brokenEnd = ({ stopReason: word }: JsonObject): object | undefined =>
  isBrokenEnd(word) ? { error: { code: word } } : undefined;

/** Names of fields without text of the model. */
export const structuralNames: ReadonlySet<string> = new Set([
  'toolUseId',
  'type',
  'signature',
  'redactedContent',
  'bytes',
  'format',
  'status',
]);
