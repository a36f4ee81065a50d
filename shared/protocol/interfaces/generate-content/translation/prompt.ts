// Converts the contents of a request of Gemini to a prompt.
import type { LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';
import {
  type AssistantPart,
  addResults,
  createKnownCalls,
  envelopeOptions,
  fileOfData,
  type KnownCall,
  type KnownCalls,
  type OpenedEnvelope,
  type OptionalMember,
  type PromptPart,
  type PromptReader,
  phaseOptions,
  type ToolNames,
  type ToolOutput,
  textParts,
} from '../../../hub/index.ts';
import { decodeEnvelope, type Envelopes, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { fileOf, inlineDataOf, ranByProvider } from '../parts.ts';
import { readThoughts } from './call-thoughts.ts';

interface ContentsReading {
  readonly names: ToolNames;
  readonly open: Envelopes['open'];
}

interface Known extends ContentsReading {
  readonly calls: KnownCalls;
  /**
   * Calls of the model's last message, by name, because Google's SDK for Python sends results without the ids of their
   * calls.
   */
  readonly callsByName: Map<string, KnownCall[]>;
  /** Results by the id of their call. Each call has one result. */
  readonly results: Map<string, string>;
  /** True if the model's last message has thinking. */
  hasReasoning: boolean;
  /**
   * Pieces of a thought whose signature has not come yet. In a history each chunk of a stream is a separate content.
   */
  thought: string[];
  readonly addUnknownField: (member: string) => void;
}

export function openPrompt({ systemInstruction }: JsonObject, reading: ContentsReading): PromptReader {
  const prompt: LanguageModelV4Prompt = instructionsOf(systemInstruction);
  const unknownFields: OptionalMember[] = [];
  const known: Known = {
    ...reading,
    calls: createKnownCalls(),
    callsByName: new Map(),
    results: new Map(),
    hasReasoning: false,
    thought: [],
    addUnknownField(member) {
      if (unknownFields.length === 0) unknownFields.push({ name: 'other', member, value: true });
    },
  };
  let wasModel = false;
  function read({ role, parts }: JsonObject, at: number): void {
    const listed = Array.isArray(parts) ? parts.filter(isJsonObject) : [];
    const isModel = role === 'model';
    if (isModel && !wasModel) beginModel(known);
    wasModel = isModel;
    if (isModel) addModel(prompt, listed, `contents[${at}].parts`, known);
    else addUser(prompt, listed, known);
  }
  return { prompt, unknownFields, read };
}

function instructionsOf(instruction: unknown): LanguageModelV4Prompt {
  const parts = isJsonObject(instruction) && Array.isArray(instruction.parts) ? instruction.parts : [];
  const texts = typeof instruction === 'string' ? [instruction] : parts.filter(isJsonObject).map(({ text }) => text);
  return texts.flatMap((text) => textParts(text).map((part) => ({ role: 'system' as const, content: part.text })));
}

/** Adds a user's content. Results of calls come first, because they must follow the calls directly. */
function addUser(prompt: LanguageModelV4Prompt, parts: readonly JsonObject[], known: Known): void {
  const others: PromptPart[] = [];
  for (const part of parts) {
    const { functionResponse: result } = part;
    if (!isJsonObject(result)) {
      others.push(...toUserParts(part));
      continue;
    }
    const call = takeResult(result, known);
    const text = textOf(outputOf(result));
    const before = call && known.results.get(call.id);
    // Gemini CLI sends each result twice when it resumes a session.
    if (before === text) continue;
    if (call === undefined || before !== undefined) {
      others.push(...textParts(`Result of a tool:\n${text}`), ...filesOf(result));
      continue;
    }
    known.results.set(call.id, text);
    addResults(prompt, {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: call.id, toolName: call.name, output: toOutput(result) }],
    });
  }
  if (others.length > 0) prompt.push({ role: 'user', content: others });
}

/** Returns the call with this id, else the next call of its name that has no result. */
function takeResult({ id, name }: JsonObject, { calls, callsByName, results }: Known): KnownCall | undefined {
  if (typeof id === 'string' && id !== '' && calls.has(id)) return calls.takeResult(id);
  const callsOfName = callsByName.get(String(name)) ?? [];
  while (callsOfName[0] !== undefined && results.has(callsOfName[0].id)) callsOfName.shift();
  return callsOfName.shift();
}

const filesOf = ({ parts }: JsonObject): PromptPart[] =>
  (Array.isArray(parts) ? parts.filter(isJsonObject) : []).flatMap(toUserParts);

const outputOf = ({ response }: JsonObject): unknown => {
  if (!isJsonObject(response)) return response ?? {};
  const { output, result, ...others } = response;
  // Google's own SDKs use the names `output` and `result` for a result that is not an object.
  if (Object.keys(others).length > 0) return response;
  if (output !== undefined) return result === undefined ? output : response;
  return result ?? response;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function toOutput(result: JsonObject): ToolOutput {
  const { response } = result;
  const error = isJsonObject(response) && Object.keys(response).length === 1 ? response.error : undefined;
  if (error !== undefined) return { type: 'error-text', value: textOf(error) };
  const value = textOf(outputOf(result));
  const files = filesOf(result);
  if (files.length === 0) return { type: 'text', value };
  const parts: PromptPart[] = [{ type: 'text', text: value }, ...files];
  return { type: 'content', value: parts as Extract<ToolOutput, { type: 'content' }>['value'] };
}

function toUserParts(part: JsonObject): PromptPart[] {
  const inline = inlineDataOf(part);
  if (inline !== undefined) return [fileOfData(inline.mimeType, inline.data)];
  const file = fileOf(part);
  if (file !== undefined)
    return URL.canParse(file.uri)
      ? [{ type: 'file', mediaType: file.mimeType || usualType, data: { type: 'url', url: new URL(file.uri) } }]
      : [];
  return plainText(part);
}

const usualType = 'application/pdf';

/** Returns a part that a provider ran as text for another provider. */
function plainText(part: JsonObject): PromptPart[] {
  if (typeof part.text === 'string') return part.thought === true ? [] : textParts(part.text);
  const ran = ranByProvider.find((name) => part[name] !== undefined);
  return ran === undefined ? [] : textParts(JSON.stringify({ [ran]: part[ran] }));
}

function beginModel(known: Known): void {
  known.calls.beginAnswer();
  known.callsByName.clear();
  known.hasReasoning = false;
  known.thought = [];
}

/**
 * Adds a model's content. Consecutive contents of the model are one message, because SDKs store each chunk of a stream
 * as a content.
 */
function addModel(prompt: LanguageModelV4Prompt, parts: readonly JsonObject[], path: string, known: Known): void {
  const last = prompt.at(-1);
  const content: AssistantPart[] = last?.role === 'assistant' ? last.content : [];
  const hasThoughts = known.hasReasoning || parts.some(({ thought }) => thought === true);
  for (const [at, part] of parts.entries()) {
    const envelope = openSignature(part, `${path}[${at}].thoughtSignature`, known);
    if (part.thought === true) {
      known.thought.push(typeof part.text === 'string' ? part.text : '');
      if (envelope === undefined) continue;
      content.push({ type: 'reasoning', text: known.thought.join(''), providerOptions: envelopeOptions(envelope) });
      known.hasReasoning = true;
      known.thought = [];
    } else if (isJsonObject(part.functionCall)) addCall(content, part.functionCall, { envelope, hasThoughts, known });
    else addContent(content, part, envelope);
  }
  if (content.length > 0 && last?.role !== 'assistant') prompt.push({ role: 'assistant', content });
}

function addContent(content: AssistantPart[], part: JsonObject, envelope: OpenedEnvelope | undefined): void {
  const texts = toUserParts(part).filter((one) => one.type === 'text' || one.type === 'file');
  const options = envelope && phaseOptions(envelope);
  const before = content.at(-1);
  // The phase of a text comes after the text.
  if (options !== undefined && texts.length === 0 && before?.type === 'text')
    content.splice(-1, 1, withOptions(before, options));
  for (const one of texts) {
    const last = content.at(-1);
    if (one.type === 'text' && last?.type === 'text' && last.providerOptions === undefined)
      content.splice(-1, 1, { ...last, text: last.text + one.text });
    else content.push(options === undefined ? one : withOptions(one, options));
  }
}

const withOptions = <Part extends AssistantPart>(part: Part, options: SharedV4ProviderOptions): Part => ({
  ...part,
  providerOptions: { ...part.providerOptions, ...options },
});

interface CallReading {
  readonly envelope: OpenedEnvelope | undefined;
  /** True if the client has sent the thinking before the call as parts of its own. */
  readonly hasThoughts: boolean;
  readonly known: Known;
}

function addCall(content: AssistantPart[], call: JsonObject, { envelope, hasThoughts, known }: CallReading): void {
  const { calls, names, callsByName } = known;
  const { thoughts, signatureOfCall } = readThoughts(envelope);
  if (!hasThoughts) {
    for (const { text, ...signed } of thoughts) {
      content.push({ type: 'reasoning', text, providerOptions: envelopeOptions(signed) });
      known.hasReasoning = true;
    }
  }
  const sentName = typeof call.name === 'string' ? call.name : '';
  const sentId = typeof call.id === 'string' && call.id !== '' ? call.id : undefined;
  const addedCall = calls.add(sentId ?? Symbol(sentName), names.short(sentName));
  const callsOfName = callsByName.get(sentName);
  if (callsOfName === undefined) callsByName.set(sentName, [addedCall]);
  else callsOfName.push(addedCall);
  content.push({
    type: 'tool-call',
    toolCallId: addedCall.id,
    toolName: addedCall.name,
    input: calls.readArguments(call.args),
    ...(signatureOfCall === undefined ? {} : { providerOptions: envelopeOptions(signatureOfCall) }),
  });
}

/**
 * Opens a signature. Undefined if a provider signed for itself, or if another workspace got the signature, because no
 * other model can read it.
 */
function openSignature(
  { thoughtSignature: signature }: JsonObject,
  field: string,
  { open, addUnknownField }: Known,
): OpenedEnvelope | undefined {
  if (typeof signature !== 'string' || signature === '') return undefined;
  const envelope = open(decodeEnvelope(signature));
  if (envelope === undefined) addUnknownField(field);
  return envelope && { ...envelope, field };
}
