// Reads a provider's message from JSON. The reader is lenient, because an object with a list as content is a message,
// and an unknown field changes nothing.
import {
  type AnswerDetails,
  findMember,
  isBrokenEnd,
  isEndWord,
  isJsonObject,
  type JsonObject,
  type JsonText,
  pick,
  type ReadAnswer,
} from '../../wire/index.ts';
import { membersOf, readAnswerIn, readErrorObject, readUsageMember, textBytesIn } from '../index.ts';
import { readUsageReport } from './message-usage.ts';

const factsShape = membersOf({
  ...{ type: {}, id: {}, error: {}, model: {}, stop_reason: {} },
  container: membersOf({ id: {} }),
});
const resultsShape = {
  items: membersOf({ type: {}, content: membersOf({ content: { items: membersOf({ file_id: {} }) } }) }),
};

export const readMessage = (text: string): Promise<ReadAnswer> => readAnswerIn(text, readDetails, readUsageReport);

function readDetails(json: JsonText): ReadAnswer {
  if (isError(json)) return { kind: 'error', error: readErrorObject(json) };
  const content = findMember(json, 'content');
  if (content === undefined || !json.isArray(content)) return { kind: 'unreadable' };
  const outputBytes = Array.from(json.inside(content)).reduce((sum, block) => sum + blockBytes(json, block), 0);
  const usage = readReportedUsage(json);
  const details = pick(json, 0, factsShape) as Record<string, unknown>;
  const brokenEnding = brokenEnd(details);
  if (brokenEnding !== undefined) return { kind: 'error', error: brokenEnding };
  const summary = answerDetails(details);
  const files = (pick(json, content, resultsShape) as readonly unknown[]).flatMap(filesIn);
  const objectIds = [...(summary.objectIds ?? []), ...files];
  return { kind: 'answer', answer: { text: json.text, json, usage, outputBytes, ...summary, objectIds } };
}

/** Returns the metadata of a message, whole or as it begins and ends in events. */
export const answerDetails = ({ id, container, model, stop_reason: reason }: JsonObject): AnswerDetails => ({
  storedIds: typeof id === 'string' ? [id] : undefined,
  objectIds: isJsonObject(container) && typeof container.id === 'string' ? [container.id] : undefined,
  model: typeof model === 'string' ? model : undefined,
  finishReasons: isEndWord(reason) ? [reason] : undefined,
});

/** Returns the files that a tool of the provider made. A later message may pass the files to the tool again. */
export function filesIn(block: unknown): readonly string[] {
  const { type, content } = isJsonObject(block) ? block : {};
  if (typeof type !== 'string' || !toolResult.test(type) || !isJsonObject(content)) return [];
  const outputs = Array.isArray(content.content) ? content.content : [];
  return outputs.flatMap((one) => (isJsonObject(one) && typeof one.file_id === 'string' ? [one.file_id] : []));
}

/** Returns an end that means that the answer broke, as the provider's error. */
export const brokenEnd = ({ stop_reason: word }: JsonObject): object | undefined =>
  isBrokenEnd(word) ? { error: { code: word } } : undefined;

function isError(json: JsonText): boolean {
  const { type, error } = pick(json, 0, factsShape) as Record<string, unknown>;
  return type === 'error' || (error ?? null) !== null;
}

const readReportedUsage = (json: JsonText) => readUsageReport(readUsageMember(json));

/** Names of fields without text of the model. */
export const structuralNames: ReadonlySet<string> = new Set(['type', 'id', 'tool_use_id', 'signature']);
/** Matches the output of a tool that the provider ran. */
export const toolResult = /_tool_result$/;

function blockBytes(json: JsonText, block: number): number {
  const type = json.isObject(block) ? findMember(json, 'type', block) : undefined;
  const isResult = type !== undefined && json.isString(type) && toolResult.test(JSON.parse(json.slice(type)) as string);
  return isResult ? 0 : textBytesIn(json, block, structuralNames);
}
