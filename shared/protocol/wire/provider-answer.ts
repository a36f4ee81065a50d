// What a provider answers, whole as JSON or in chunks of a stream. Lenient: an object with one choice or more is an answer,
// and a member that is not known changes nothing.
import { choicesMax, jsonValuesMax } from '../../foundation/constants/index.ts';
import { readUsageReport } from './chat-usage.ts';
import { isJsonObject } from './json-body.ts';
import { scanJson } from './json-text.ts';
import { parseJson } from './read-json-text.ts';
import type { UsageReport } from './usage-report.ts';

export interface JsonAnswer {
  readonly body: Record<string, unknown>;
  readonly usage: UsageReport | undefined;
  readonly outputBytes: number;
}

type ReadAnswer =
  | { readonly kind: 'answer'; readonly answer: JsonAnswer }
  /** An error object inside a 200: SDKs would take it for a completion. */
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'unreadable' };

/** Above any real answer; everything behind this file may recurse. */
const answerBounds = { depthMax: 512, valuesMax: jsonValuesMax };

export function readJsonAnswer(text: string): ReadAnswer {
  if (scanJson(text, answerBounds).kind !== 'json') return { kind: 'unreadable' };
  const body = parseJson(text);
  if (!isJsonObject(body)) return { kind: 'unreadable' };
  if ((body.error ?? null) !== null || body.object === 'error') return { kind: 'error', error: body };
  const choices = Array.isArray(body.choices) ? body.choices : [];
  // More than any request can ask for is no answer, and each of them is work.
  if (choices.length === 0 || choices.length > choicesMax || !choices.every(hasValidIndex))
    return { kind: 'unreadable' };
  const usage = readUsageReport(body.usage);
  const messages = choices.map((choice) => (isJsonObject(choice) ? choice.message : undefined));
  return { kind: 'answer', answer: { body, usage, outputBytes: outputBytesOf(messages) } };
}

const hasValidIndex = (choice: unknown, position: number): boolean =>
  !isJsonObject(choice) || isChoiceIndex(indexOf(choice, position));

/** `reasoning.exclude`: the answer without any member of a message whose name begins with reasoning. */
export function withoutReasoning(body: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(body.choices)) return body;
  const choices = body.choices.map((choice) =>
    isJsonObject(choice) && isJsonObject(choice.message)
      ? { ...choice, message: withoutReasoningMembers(choice.message) }
      : choice,
  );
  return { ...body, choices };
}

const withoutReasoningMembers = (message: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !name.startsWith('reasoning')));

interface ChunkFacts {
  /** Content, reasoning, a tool call, a refusal, audio or a finish reason: what a client can use. */
  readonly hasOutput: boolean;
  /** No choice in it, only usage: goes to clients that asked for it. */
  readonly isUsageOnly: boolean;
  readonly usage: UsageReport | undefined;
  /** The provider's error object, of whatever shape. */
  readonly error: unknown;
  /** Choice index → whether this chunk finished it. */
  readonly choices: readonly { readonly index: number; readonly finished: boolean }[];
  /** Bytes of text in it, for the estimate where a provider reports no usage. */
  readonly outputBytes: number;
}

export interface StreamChunk {
  /** The JSON text as it came: relayed byte for byte. */
  readonly text: string;
  readonly facts: ChunkFacts;
  readonly head: Record<string, unknown>;
}

/** A shorter event can neither hold many values nor take long to parse. */
const shortEventMaxCharacters = 4 * 1024;

/** Reads one event. Undefined: it is no JSON object, or beyond what an answer may hold, so the stream is broken. */
export function readStreamChunk(text: string): StreamChunk | undefined {
  if (text.length > shortEventMaxCharacters && scanJson(text, answerBounds).kind !== 'json') return undefined;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const facts = isJsonObject(json) ? factsOf(json) : undefined;
  if (facts === undefined || !facts.choices.every(({ index }) => isChoiceIndex(index))) return undefined;
  return { text, head: json as Record<string, unknown>, facts };
}

/** Each index is remembered until its choice has finished, so there must not be ever new ones. */
const isChoiceIndex = (index: number): boolean => Number.isInteger(index) && index >= 0 && index < choicesMax;

/** Where a choice names none, its place says which it is. */
function indexOf({ index }: Record<string, unknown>, position: number): number {
  if (index === undefined || index === null) return position;
  return typeof index === 'number' ? index : Number.NaN;
}

function factsOf(json: Record<string, unknown>): ChunkFacts {
  const choices = Array.isArray(json.choices) ? json.choices.filter(isJsonObject) : [];
  const usage = readUsageReport(json.usage);
  const deltas = choices.map((choice) => (isJsonObject(choice.delta) ? choice.delta : {}));
  const read = choices.map((choice, position) => ({
    index: indexOf(choice, position),
    finished: typeof choice.finish_reason === 'string' && choice.finish_reason !== '',
  }));
  return {
    hasOutput: read.some((choice) => choice.finished) || deltas.some(hasOutput),
    isUsageOnly: choices.length === 0 && usage !== undefined,
    usage,
    // Some servers send the error itself, `{"object": "error", "message": …}`, without a member around it.
    error: json.error ?? (json.object === 'error' ? json : undefined),
    choices: read,
    outputBytes: deltas.reduce((sum, delta) => sum + outputBytesOf(delta), 0),
  };
}

/** What a client can use, whatever a provider calls it: `reasoning_content` and `reasoning_details` begin alike. */
const outputMember = /^(content|refusal|reasoning|thinking|tool_calls|function_call|audio|image)/;

/** A role, an id or a tier is no output: a provider may fail right after it. */
const hasOutput = (delta: Record<string, unknown>): boolean =>
  Object.entries(delta).some(([name, value]) => outputMember.test(name) && !isEmpty(value));

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Text of content, refusal, reasoning, or tool call arguments, whatever a provider calls them. */
function outputBytesOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + outputBytesOf(item), 0);
  if (!isJsonObject(value)) return 0;
  return Object.entries(value)
    .filter(([name]) => !structuralMembers.has(name))
    .reduce((sum, [, member]) => sum + outputBytesOf(member), 0);
}

const structuralMembers = new Set(['role', 'id', 'type', 'index']);

/**
 * `reasoning.exclude`: the text of a chunk without any member of a delta whose name begins with reasoning.
 * Undefined: nothing is left in it. A chunk that has none stays as it came, byte for byte.
 */
export function withoutReasoningDeltas({ text, facts }: StreamChunk): string | undefined {
  if (!text.includes('reasoning')) return text;
  const chunk = parseJson(text) as Record<string, unknown>;
  if (!Array.isArray(chunk.choices)) return text;
  let isLeft =
    facts.usage !== undefined || chunk.choices.length === 0 || facts.choices.some(({ finished }) => finished);
  let isChanged = false;
  const choices = chunk.choices.map((choice) => {
    if (!isJsonObject(choice) || !isJsonObject(choice.delta)) return choice;
    const delta = withoutReasoningMembers(choice.delta);
    isChanged ||= Object.keys(delta).length < Object.keys(choice.delta).length;
    isLeft ||= !Object.values(delta).every(isEmpty);
    return { ...choice, delta };
  });
  if (!isChanged) return text;
  return isLeft ? JSON.stringify({ ...chunk, choices }) : undefined;
}
