// Reads a provider's answer, whole as JSON or in chunks of a stream. The reader is lenient, because an object with at
// least one choice is an answer, and an unknown field changes nothing. Only the parts that the gateway reads are
// parsed.
import { choicesMax } from '../../../foundation/constants/index.ts';
import {
  type AnswerEvent,
  type EventDetails,
  findMember,
  isBrokenEnd,
  isEndWord,
  isJsonObject,
  type JsonObject,
  type JsonText,
  pick,
  type ReadAnswer,
  replaceValues,
  rewriteMembers,
  type UsageReport,
} from '../../wire/index.ts';
import {
  answerJson,
  membersOf,
  ParsedEvent,
  parseEvent,
  readAnswerIn,
  readErrorObject,
  readUsageMember,
  rescanAnswer,
  textBytesIn,
} from '../index.ts';
import { type OutputOfDeltas, outputOfDeltas, uncountedNames } from './output-of-deltas.ts';
import { readUsageReport } from './read-usage.ts';

const factsShape = membersOf({
  id: {},
  created: {},
  model: {},
  object: {},
  error: {},
  choices: { items: membersOf({ index: {}, finish_reason: {}, message: membersOf({ audio: membersOf({ id: {} }) }) }) },
});

export const readJsonAnswer = (text: string): Promise<ReadAnswer> =>
  readAnswerIn(text, readCompletion, readUsageReport);

function readCompletion(json: JsonText): ReadAnswer {
  const details = pick(json, 0, factsShape) as Record<string, unknown>;
  if (isError(details)) return { kind: 'error', error: readErrorObject(json) };
  const choices = Array.isArray(details.choices) ? details.choices : [];
  if (choices.length === 0) return { kind: 'unreadable' };
  // More choices than any request can have cost work, and are not an answer.
  if (choices.length > choicesMax) {
    return { kind: 'refused', refused: { usage: readReportedUsage(json), outputBytes: json.text.length } };
  }
  if (!choices.every(hasValidIndex)) return { kind: 'unreadable' };
  const brokenEnding = brokenEndIn(choices);
  if (brokenEnding !== undefined) return { kind: 'error', error: brokenEnding };
  const outputBytes = messagesIn(json, 'message').reduce((sum, message) => sum + outputBytesOf(json, message), 0);
  const answer = { text: json.text, json, usage: readReportedUsage(json), outputBytes, model: modelIn(details) };
  const choiceDetails = { finishReasons: finishReasonsIn(choices), objectIds: soundIn(choices, 'message') };
  return { kind: 'answer', answer: { ...answer, ...choiceDetails } };
}

/** Returns the ids of audio. The provider stores audio for an hour for messages that refer to it. */
const soundIn = (choices: readonly unknown[], name: 'message' | 'delta'): readonly string[] =>
  choices.flatMap((choice) => {
    const message = isJsonObject(choice) ? choice[name] : undefined;
    const audio = isJsonObject(message) ? message.audio : undefined;
    return isJsonObject(audio) && typeof audio.id === 'string' ? [audio.id] : [];
  });

const modelIn = ({ model }: Record<string, unknown>): string | undefined =>
  typeof model === 'string' ? model : undefined;

const finishReasonsIn = (choices: readonly unknown[]): string[] =>
  choices.flatMap((choice) => (isJsonObject(choice) && isEndWord(choice.finish_reason) ? [choice.finish_reason] : []));

/** Returns the first choice that ended because something broke, as the provider's error. */
function brokenEndIn(choices: readonly unknown[]): object | undefined {
  const word = finishReasonsIn(choices).find(isBrokenEnd);
  return word === undefined ? undefined : { error: { code: word } };
}

/**
 * True for an error. Some servers send the error itself, `{"object": "error", "message": …}`, without a field around
 * it.
 */
const isError = ({ error, object }: Record<string, unknown>): boolean => (error ?? null) !== null || object === 'error';

const readReportedUsage = (json: JsonText): UsageReport | undefined => readUsageReport(readUsageMember(json));

const part = membersOf({ type: {}, text: {} });
const message = membersOf({
  content: { items: part },
  refusal: {},
  tool_calls: { items: {} },
  function_call: {},
});
const choicesShape = membersOf({
  choices: { items: membersOf({ index: {}, finish_reason: {}, message, delta: message }) },
});

/** Returns the choices of an answer or a chunk, with the fields that a schema or a function needs. */
export const readChoices = (json: JsonText): { readonly choices?: unknown } =>
  pick(json, 0, choicesShape) as { choices?: unknown };

/** Returns the message of each choice; undefined for a choice without a message. */
function messageOfChoices(json: JsonText, name: 'message' | 'delta'): readonly (number | undefined)[] {
  const list = findMember(json, 'choices');
  if (list === undefined || !json.isArray(list)) return [];
  const messageOf = (choice: number) => (json.isObject(choice) ? findMember(json, name, choice) : undefined);
  return Array.from(json.inside(list), messageOf);
}

const messagesIn = (json: JsonText, name: 'message' | 'delta'): readonly number[] =>
  messageOfChoices(json, name).filter((found) => found !== undefined);

/** Returns the answer with other texts as contents of some choices, by their position. */
export function withContents(json: JsonText, contents: ReadonlyMap<number, string>): JsonText | Promise<JsonText> {
  const replaced = messageOfChoices(json, 'message').flatMap((found, place) => {
    const content = found === undefined ? undefined : findMember(json, 'content', found);
    const text = contents.get(place);
    return content === undefined || text === undefined ? [] : [[content, JSON.stringify(text)] as const];
  });
  return replaced.length === 0 ? json : rescanAnswer(replaceValues(json, replaced));
}

const hasValidIndex = (choice: unknown, position: number): boolean =>
  !isJsonObject(choice) || isChoiceIndex(indexOf(choice, position));

/** Applies `reasoning.exclude`. Returns the answer without message fields whose name begins with reasoning. */
export function withoutReasoning(json: JsonText): JsonText | Promise<JsonText> {
  const replaced = messagesWithoutReasoning(json, 'message');
  return replaced.length === 0 ? json : rescanAnswer(replaceValues(json, replaced));
}

/** Returns the text of the answer without reasoning, with these fields of the answer changed too. */
export const textWithoutReasoning = (json: JsonText, changes: ReadonlyMap<string, unknown>): string =>
  rewriteMembers(json, changes, 0, messagesWithoutReasoning(json, 'message'));

/** Returns the messages that have reasoning, without their reasoning. */
const messagesWithoutReasoning = (json: JsonText, name: 'message' | 'delta') =>
  messagesIn(json, name).flatMap((found) => {
    const names = json.isObject(found) ? json.members(found).map((member) => member.name) : [];
    const removed = names.filter(isReasoning).map((name) => [name, undefined] as const);
    return removed.length === 0 ? [] : [[found, rewriteMembers(json, new Map(removed), found)] as const];
  });

const isReasoning = (name: string): boolean => name.startsWith('reasoning');

/** Details of a chunk. Output is content, reasoning, a tool call, a refusal, audio or a finish reason. */
interface ChunkDetails extends EventDetails {
  /** True for a chunk with usage and no choice, which is sent only to clients that requested usage. */
  readonly isUsageOnly: boolean;
  /** The provider's error, in whatever form. */
  readonly error: unknown;
  /** Choice index → whether this chunk finished it. */
  readonly choices: readonly { readonly index: number; readonly finished: boolean }[];
}

export interface StreamChunk extends AnswerEvent {
  readonly details: ChunkDetails;
  /** Fields that are the same in all chunks: `id`, `created`, `model`. */
  readonly head: JsonObject;
}

/**
 * Reads one event. Returns undefined for text that is not a JSON object, or exceeds the bounds of an answer. The stream
 * is then broken.
 */
export function readStreamChunk(text: string): StreamChunk | undefined {
  const head = parseEvent(text);
  if (head === undefined) return undefined;
  const usage = isJsonObject(head.usage) ? readReportedUsage(answerJson(text)) : usageOfGroq(head);
  const details = factsOf(head, outputOfDeltas(head.choices), usage, () => answerJson(text));
  return details.choices.every(({ index }) => isChoiceIndex(index)) ? new ParsedChunk(text, head, details) : undefined;
}

/** Reads the usage where Groq has it. */
const usageOfGroq = ({ x_groq: groq }: JsonObject): UsageReport | undefined =>
  isJsonObject(groq) ? readUsageReport(groq.usage) : undefined;

/**
 * Wraps a chunk that the gateway wrote itself. The chunk's text is made once, and not parsed again. `beginsThinking`
 * means that the chunk marks the start of thinking.
 */
export function writtenChunk(chunk: Record<string, unknown>, beginsThinking = false): StreamChunk {
  const text = JSON.stringify(chunk);
  const output = outputOfDeltas(chunk.choices);
  const details = factsOf(chunk, output, readUsageReport(chunk.usage), () => answerJson(text));
  return new ParsedChunk(text, chunk, beginsThinking ? { ...details, hasOutput: true, isOnlyThinking: true } : details);
}

class ParsedChunk extends ParsedEvent<ChunkDetails> implements StreamChunk {
  readonly head: JsonObject;

  constructor(text: string, head: JsonObject, details: ChunkDetails) {
    super(undefined, text, details);
    this.head = head;
  }
}

/** True for a valid index, which is bounded, because each is remembered until its choice has finished. */
const isChoiceIndex = (index: number): boolean => Number.isInteger(index) && index >= 0 && index < choicesMax;

/** Returns the index of a choice; its position if it has none. */
function indexOf({ index }: Record<string, unknown>, position: number): number {
  if (index === undefined || index === null) return position;
  return typeof index === 'number' ? index : Number.NaN;
}

function factsOf(
  head: JsonObject,
  output: OutputOfDeltas,
  usage: UsageReport | undefined,
  json: () => JsonText,
): ChunkDetails {
  const choices: readonly unknown[] = Array.isArray(head.choices) ? head.choices : [];
  const read: { readonly index: number; readonly finished: boolean }[] = [];
  let isFinishing = false;
  for (const choice of choices) {
    if (!isJsonObject(choice)) continue;
    const finished = isEndWord(choice.finish_reason);
    isFinishing ||= finished;
    read.push({ index: indexOf(choice, read.length), finished });
  }
  return {
    hasOutput: output.hasOutput || isFinishing,
    isOnlyThinking: output.isOnlyThinking && !isFinishing,
    model: modelIn(head),
    finishReasons: isFinishing ? finishReasonsIn(choices) : undefined,
    objectIds: soundIn(choices, 'delta'),
    isLast: false,
    isUsageOnly: read.length === 0 && usage !== undefined,
    usage,
    error: isError(head) ? readErrorObject(json()) : brokenEndIn(choices),
    choices: read,
    outputBytes: output.outputBytes,
  };
}

function isEmpty(json: JsonText, value: number): boolean {
  if (json.isArray(value)) return json.next(value) === value + 1;
  const text = json.slice(value);
  return text === 'null' || text === '""';
}

/** Returns the bytes of content, refusal, reasoning, or tool call arguments, whatever a provider calls them. */
function outputBytesOf(json: JsonText, value: number): number {
  const reasoning = json.isObject(value) ? findMember(json, 'reasoning', value) : undefined;
  const hasReasoning = reasoning !== undefined && json.isString(reasoning) && !isEmpty(json, reasoning);
  return textBytesIn(json, value, uncountedNames(hasReasoning));
}

/**
 * Applies `reasoning.exclude` to a chunk. Returns its text without delta fields whose name begins with reasoning, or
 * undefined if nothing remains. A chunk without such fields is unchanged, byte for byte.
 */
export function withoutReasoningDeltas(chunk: StreamChunk): string | undefined {
  const { text, details } = chunk;
  if (!text.includes('reasoning')) return text;
  const { json } = chunk;
  const replaced = messagesWithoutReasoning(json, 'delta');
  if (replaced.length === 0) return text;
  const isLeft = (delta: number): boolean =>
    json.isObject(delta) && json.members(delta).some(({ name, value }) => !isReasoning(name) && !isEmpty(json, value));
  const keepsChunk =
    details.usage !== undefined ||
    details.choices.some(({ finished }) => finished) ||
    messagesIn(json, 'delta').some(isLeft);
  return keepsChunk ? replaceValues(json, replaced) : undefined;
}
