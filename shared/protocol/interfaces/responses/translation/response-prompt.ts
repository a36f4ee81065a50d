// Converts the input of a Responses request to a prompt. The items of an answer become one message of the assistant,
// and results follow the calls that they answer, wherever the client put them.
import type { LanguageModelV4Message, LanguageModelV4TextPart } from '@ai-sdk/provider';
import {
  type AssistantPart,
  createKnownCalls,
  envelopeOptions,
  isMarked,
  type KnownCalls,
  type OpenedEnvelope,
  type OptionalMember,
  type PromptPart,
  type PromptReader,
  type ToolPart,
} from '../../../hub/index.ts';
import { type Envelopes, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { itemUse } from '../item-types.ts';
import type { ClientTools } from './client-tools.ts';
import { type CreatedCall, callOf, describeRun, isResult, outputOf, toParts, toTexts } from './response-items.ts';

interface Answer {
  readonly parts: AssistantPart[];
  readonly results: ToolPart[];
}

interface PromptState {
  readonly entries: (LanguageModelV4Message | Answer)[];
  readonly calls: KnownCalls;
  readonly clientTools: ClientTools;
  /** Answers by the id of a call, as the target gets it. */
  readonly answers: Map<string, Answer>;
  /** Ids of calls by the ids of their items, which some outputs name instead. */
  readonly callIds: Map<unknown, unknown>;
  readonly thinking: ReadThinking;
  nextTextEnvelope: OpenedEnvelope | undefined;
}

export interface ResponsePromptReading {
  readonly clientTools: ClientTools;
  readonly open: Envelopes['open'];
}

export function openPrompt(
  { instructions, input }: JsonObject,
  { clientTools, open }: ResponsePromptReading,
): Pick<PromptReader, 'read'> & { readonly end: () => Omit<PromptReader, 'read'> } {
  const reading: PromptState = {
    entries: toTexts(instructions).map(toSystem),
    calls: createKnownCalls(),
    clientTools,
    answers: new Map(),
    callIds: new Map(),
    thinking: readThinking(input, open),
    nextTextEnvelope: undefined,
  };
  if (typeof input === 'string') addUser(reading, toParts(input));
  return {
    read: (item) => addItem(reading, item),
    end: () => ({
      prompt: reading.entries.flatMap((entry) => ('role' in entry ? [entry] : toMessages(entry))),
      unknownFields: reading.thinking.unknownFields,
    }),
  };
}

const toSystem = ({ text, type: _text, ...marked }: LanguageModelV4TextPart): LanguageModelV4Message => ({
  role: 'system',
  content: text,
  ...marked,
});

const toMessages = ({ parts, results }: Answer): LanguageModelV4Message[] => [
  ...(parts.length === 0 ? [] : [{ role: 'assistant', content: parts } as const]),
  ...(results.length === 0 ? [] : [{ role: 'tool', content: results } as const]),
];

function addUser({ entries }: PromptState, content: PromptPart[]): void {
  if (content.length > 0) entries.push({ role: 'user', content });
}

/** Returns the current answer. Items after results belong to the next answer. */
function openAnswer({ entries, calls }: PromptState): Answer {
  const last = entries.at(-1);
  if (last !== undefined && !('role' in last) && last.results.length === 0) return last;
  calls.beginAnswer();
  const answer = { parts: [], results: [] };
  entries.push(answer);
  return answer;
}

function addItem(reading: PromptState, item: JsonObject): void {
  const { type, role, content } = item;
  const call = callOf(item);
  // Tools that are added, or that a provider found, are sent themselves.
  if (type === 'additional_tools' || isSearchOfProvider(item) || itemUse(item) === 'left_out') return;
  if (type === 'reasoning') addReasoning(reading, item);
  else if (typeof type === 'string' && type.startsWith('input_')) addUser(reading, toParts(item));
  else if (isResult(type)) addResult(reading, item);
  else if (call !== undefined) addCall(reading, item, call);
  else if (role === 'assistant') addText(reading, toTexts(content));
  else if (role === 'system' || role === 'developer') reading.entries.push(...toTexts(content).map(toSystem));
  else if (typeof role === 'string') addUser(reading, toParts(content));
  else if (type === 'mcp_approval_response') addUser(reading, toParts(describeRun(item)));
  else openAnswer(reading).parts.push(...madeByProvider(item));
}

function addText(reading: PromptState, texts: readonly LanguageModelV4TextPart[]): void {
  for (const text of texts) {
    const { nextTextEnvelope: envelope } = reading;
    reading.nextTextEnvelope = undefined;
    const signed = envelope && { ...text.providerOptions, ...envelopeOptions(envelope) };
    openAnswer(reading).parts.push(signed === undefined ? text : { ...text, providerOptions: signed });
  }
}

const isSearchOfProvider = ({ type, call_id: id }: JsonObject): boolean =>
  (type === 'tool_search_call' || type === 'tool_search_output') && (id ?? null) === null;

/** Returns a tool run of another provider, with its result, as text for any other model, or the image that it made. */
function madeByProvider(item: JsonObject): AssistantPart[] {
  const { type, result } = item;
  if (type !== 'image_generation_call') return [{ type: 'text', text: describeRun(item) }];
  if (typeof result !== 'string' || result === '') return [];
  return [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: result } }];
}

interface ReadThinking {
  /**
   * Envelopes by item. Absent if a provider encrypted thinking for itself, or another workspace got the thinking,
   * because no other model can read it.
   */
  readonly envelopes: ReadonlyMap<JsonObject, OpenedEnvelope>;
  /** Envelopes by the call that they sign. */
  readonly signedCalls: ReadonlyMap<string, OpenedEnvelope>;
  readonly unknownFields: readonly OptionalMember[];
}

function readThinking(input: unknown, open: Envelopes['open']): ReadThinking {
  const envelopes = new Map<JsonObject, OpenedEnvelope>();
  const signedCalls = new Map<string, OpenedEnvelope>();
  const unknownFields: OptionalMember[] = [];
  for (const [at, item] of (Array.isArray(input) ? input : []).entries()) {
    const { type, encrypted_content: sealed } = isJsonObject(item) ? item : {};
    if (type !== 'reasoning' || typeof sealed !== 'string' || sealed === '') continue;
    const field = `input[${at}].encrypted_content`;
    const opened = open(sealed);
    const envelope = opened && { ...opened, field };
    if (envelope !== undefined) envelopes.set(item, envelope);
    else if (unknownFields.length === 0) {
      unknownFields.push({ name: 'other', member: field, value: true });
    }
    if (typeof envelope?.of === 'object') signedCalls.set(envelope.of.call, envelope);
  }
  return { envelopes, signedCalls, unknownFields };
}

function addReasoning(reading: PromptState, item: JsonObject): void {
  const { summary } = item;
  const envelope = reading.thinking.envelopes.get(item);
  if (envelope === undefined || typeof envelope.of === 'object') return;
  if (envelope.of === 'text') {
    reading.nextTextEnvelope = envelope;
    return;
  }
  const { parts } = openAnswer(reading);
  const providerOptions = envelopeOptions(envelope);
  if (envelope.of === undefined) {
    const texts = (Array.isArray(summary) ? summary : []).flatMap((part) => (isJsonObject(part) ? [part.text] : []));
    parts.push({ type: 'reasoning', text: texts.filter((text) => typeof text === 'string').join(''), providerOptions });
    return;
  }
  const last = parts.at(-1);
  if (last?.type === 'text') parts[parts.length - 1] = { ...last, providerOptions };
  else parts.push({ type: 'text', text: '', providerOptions });
}

function addCall(reading: PromptState, item: JsonObject, { tool, input }: CreatedCall): void {
  const { calls, clientTools, thinking, answers, callIds } = reading;
  const clientId = item.call_id ?? item.id;
  const { id, name } = calls.add(clientId, clientTools.nameFor(tool));
  if (item.id !== undefined) callIds.set(item.id, clientId);
  const signed = typeof clientId === 'string' ? thinking.signedCalls.get(clientId) : undefined;
  const answer = openAnswer(reading);
  answers.set(id, answer);
  answer.parts.push({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: calls.readArguments(input),
    ...(signed === undefined ? {} : { providerOptions: envelopeOptions(signed) }),
  });
}

function addResult(reading: PromptState, item: JsonObject): void {
  const { calls, answers, callIds, clientTools } = reading;
  const call = calls.takeResult(item.call_id) ?? calls.takeResult(callIds.get(item.id) ?? item.id);
  const output = outputOf(item, clientTools);
  if (call === undefined) {
    // A result without its call becomes text, because every provider refuses it.
    const parts = output.type === 'text' || output.type === 'error-text' ? toParts(output.value) : toParts(item.output);
    addUser(reading, [...toParts('Result of a tool:'), ...parts]);
    return;
  }
  const parts = typeof item.output === 'string' ? [] : toParts(item.output);
  const mark = parts.findLast(isMarked)?.providerOptions;
  answers.get(call.id)?.results.push({
    type: 'tool-result',
    toolCallId: call.id,
    toolName: call.name,
    output,
    // Inside a result a part has no cache mark, because the result as a whole has the mark.
    ...(mark === undefined ? {} : { providerOptions: mark }),
  });
}
