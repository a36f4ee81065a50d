// Converts the messages of a Converse request to a prompt.
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import {
  type AssistantPart,
  addResults,
  createKnownCalls,
  envelopeOptions,
  fileOfData,
  isBlank,
  type KnownCall,
  type KnownCalls,
  type Marked,
  markOf,
  type OpenedEnvelope,
  type OptionalMember,
  type PromptPart,
  type PromptReader,
  phaseOptions,
  type ToolNames,
  type ToolOutput,
  type ToolResult,
  textParts,
  withMark,
  withoutMark,
} from '../../../hub/index.ts';
import { type Envelopes, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { type Block, blockOf, blocksIn, mediaTypeOf } from '../block-kinds.ts';

interface ConversePromptReading {
  readonly names: ToolNames;
  readonly open: Envelopes['open'];
}

export function openPrompt({ system }: JsonObject, reading: ConversePromptReading): PromptReader {
  const prompt: LanguageModelV4Prompt = [...toSystem(system)];
  const calls = createKnownCalls();
  const unknownFields: OptionalMember[] = [];
  const known = {
    ...reading,
    calls,
    addUnknownField(member: string): void {
      if (unknownFields.length === 0) unknownFields.push({ name: 'other', member, value: true });
    },
  };
  function read(message: JsonObject, at: number): void {
    if (message.role === 'assistant') prompt.push(...toAssistant(message.content, `messages[${at}].content`, known));
    else if (message.role === 'system') prompt.push(...toSystem(message.content));
    else addUser(prompt, message.content, calls);
  }
  return { prompt, unknownFields, read };
}

const toSystem = (content: unknown): LanguageModelV4Message[] =>
  toTextParts(content).map(({ text, providerOptions }) => ({
    role: 'system',
    content: text,
    ...(providerOptions === undefined ? {} : { providerOptions }),
  }));

/** Adds a user's message. Results of calls come first, because they must follow the calls directly. */
function addUser(prompt: LanguageModelV4Prompt, content: unknown, calls: KnownCalls): void {
  const results: ToolResult[] = [];
  const parts: PromptPart[] = [];
  let isAfterResult = false;
  for (const block of blocksIn(content).flatMap((one) => blockOf(one) ?? [])) {
    const { kind, value } = block;
    const call = kind === 'toolResult' && isJsonObject(value) ? calls.takeResult(value.toolUseId) : undefined;
    if (call !== undefined) results.push(toResult(value as JsonObject, call));
    else if (kind !== 'cachePoint') parts.push(...toUserParts(block));
    else if (isAfterResult) markLast(results, block);
    else markLast(parts, block);
    isAfterResult = call !== undefined || (kind === 'cachePoint' && isAfterResult);
  }
  if (results.length > 0) addResults(prompt, { role: 'tool', content: results });
  if (parts.length > 0) prompt.push({ role: 'user', content: parts });
}

/** Returns the parts of a user's block. A result without its call becomes text, because every provider refuses it. */
const toUserParts = (block: Block): PromptPart[] =>
  block.kind === 'toolResult' && isJsonObject(block.value)
    ? [{ type: 'text', text: 'Result of a tool:' }, ...toParts(block.value.content)]
    : toBlockParts(block);

const toResult = ({ content, status }: JsonObject, { id, name }: KnownCall): ToolResult => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: name,
  output: toOutput(toParts(content).map(withoutMark), status === 'error'),
});

function toOutput(parts: readonly PromptPart[], isError: boolean): ToolOutput {
  if (!parts.every((part) => part.type === 'text')) {
    // Formats cannot mark a failure together with images, so the failure is added as text.
    const failed: PromptPart[] = isError ? [{ type: 'text', text: 'The tool failed.' }] : [];
    return { type: 'content', value: [...failed, ...parts] as Extract<ToolOutput, { type: 'content' }>['value'] };
  }
  const value = parts.map((part) => ('text' in part ? part.text : '')).join('\n');
  return isError ? { type: 'error-text', value } : { type: 'text', value };
}

interface AssistantReading extends ConversePromptReading {
  readonly calls: KnownCalls;
  readonly addUnknownField: (member: string) => void;
}

function toAssistant(content: unknown, path: string, reading: AssistantReading): LanguageModelV4Message[] {
  const { calls } = reading;
  calls.beginAnswer();
  const parts: AssistantPart[] = [];
  const signedCalls = new Map<string, OpenedEnvelope>();
  let lastText = -1;
  let nextTextOptions: SharedV4ProviderOptions | undefined;
  /** True if the previous text had a signature, which is sent back without its text too. */
  let isSignedText = false;
  const addText = (part: Extract<AssistantPart, { type: 'text' }>): void => {
    lastText = parts.length;
    parts.push(nextTextOptions === undefined ? part : withOptions(part, nextTextOptions));
    nextTextOptions = undefined;
    isSignedText = false;
  };
  const addThinking = (text: string, envelope: OpenedEnvelope): void => {
    const options = envelopeOptions(envelope);
    if (typeof envelope.of === 'object') signedCalls.set(envelope.of.call, envelope);
    else if (envelope.of === 'text') {
      nextTextOptions = options;
      isSignedText = true;
    } else if (envelope.of === 'text_before') {
      if (lastText < 0) addText({ type: 'text', text: '' });
      parts[lastText] = withOptions(parts[lastText] as AssistantPart, options);
    } else {
      parts.push({ type: 'reasoning', text, providerOptions: options });
      nextTextOptions = phaseOptions(envelope) ?? nextTextOptions;
    }
  };
  for (const [at, one] of blocksIn(content).entries()) {
    const block = blockOf(one);
    if (block === undefined) continue;
    const { kind, value } = block;
    if (kind === 'cachePoint') markLast(parts, block);
    else if (kind === 'reasoningContent') {
      const { text, envelope } = openThinking(value, `${path}[${at}].reasoningContent`, reading);
      if (envelope !== undefined) addThinking(text, envelope);
    } else if (kind === 'toolUse' && isJsonObject(value)) parts.push(toCall(value, reading, signedCalls));
    else for (const part of toBlockParts(block)) part.type === 'text' ? addText(part) : parts.push(part);
  }
  if (nextTextOptions !== undefined && isSignedText) addText({ type: 'text', text: '' });
  return parts.length === 0 ? [] : [{ role: 'assistant', content: parts }];
}

/**
 * Opens an envelope. Thinking has no envelope if a provider signed it for itself, or if another workspace got it, and
 * then no other model can read it.
 */
function openThinking(
  thinking: unknown,
  path: string,
  { open, addUnknownField }: AssistantReading,
): { readonly text: string; readonly envelope: OpenedEnvelope | undefined } {
  const { reasoningText, redactedContent } = isJsonObject(thinking) ? thinking : {};
  const { text, signature } = isJsonObject(reasoningText) ? reasoningText : {};
  const [field, sealed] =
    redactedContent === undefined
      ? [`${path}.reasoningText.signature`, signature]
      : [`${path}.redactedContent`, redactedContent];
  const opened = open(sealed);
  if (opened === undefined && typeof sealed === 'string' && sealed !== '') addUnknownField(field);
  return { text: typeof text === 'string' ? text : '', envelope: opened && { ...opened, field } };
}

const withOptions = (part: AssistantPart, options: SharedV4ProviderOptions): AssistantPart => ({
  ...part,
  providerOptions: { ...part.providerOptions, ...options },
});

function toCall(
  { toolUseId, name: named, input }: JsonObject,
  { calls, names }: AssistantReading,
  signedCalls: ReadonlyMap<string, OpenedEnvelope>,
): AssistantPart {
  const { id, name } = calls.add(toolUseId, names.short(typeof named === 'string' ? named : ''));
  const signed = typeof toolUseId === 'string' ? signedCalls.get(toolUseId) : undefined;
  return {
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: calls.readArguments(input),
    ...(signed === undefined ? {} : { providerOptions: envelopeOptions(signed) }),
  };
}

// Makes the content parts of a message, which are text, images, documents and other files in the types of the
// language-model interface.

/** Returns the parts of a content. A cache point marks the part before it; blocks of another kind have no parts. */
function toParts(content: unknown): PromptPart[] {
  const parts: PromptPart[] = [];
  for (const one of blocksIn(content)) {
    const block = blockOf(one);
    if (block === undefined) continue;
    if (block.kind === 'cachePoint') markLast(parts, block);
    else parts.push(...toBlockParts(block).filter((part) => part.type !== 'text' || !isBlank(part.text)));
  }
  return parts;
}

/** Marks the last part of a list, if the list has a part. */
function markLast<Part extends Marked & { readonly type: string }>(parts: Part[], { value }: Block): void {
  const last = parts.pop();
  if (last !== undefined) parts.push(withMark(last, markOf(isJsonObject(value) ? value.ttl : undefined)));
}

const toTextParts = (content: unknown): LanguageModelV4TextPart[] =>
  toParts(content).filter((part) => part.type === 'text');

/** Returns the parts of a block, which are several for a document or a result made of texts. */
function toBlockParts({ kind, value }: Block): PromptPart[] {
  if (kind === 'text') return textParts(value);
  if (kind === 'json') return [{ type: 'text', text: JSON.stringify(value) }];
  if (!isJsonObject(value)) return [];
  if (kind === 'image' || kind === 'video' || kind === 'audio') return toFile(kind, value);
  if (kind === 'document') return toDocument(value);
  if (kind === 'searchResult') return searchResult(value);
  if (kind === 'citationsContent') return toTextParts(value.content);
  if (kind === 'guardContent') return toGuarded(value);
  return [];
}

function toFile(kind: string, { format, source }: JsonObject): LanguageModelV4FilePart[] {
  const { bytes } = isJsonObject(source) ? source : {};
  return typeof bytes === 'string' ? [fileOfData(mediaTypeOf(kind, format), bytes)] : [];
}

function toDocument(document: JsonObject): PromptPart[] {
  const { name, context, source } = document;
  const { text, content } = isJsonObject(source) ? source : {};
  const head = [name, context].filter((one) => typeof one === 'string' && !isBlank(one)).join('\n');
  if (typeof text === 'string') return [...textParts(head), { type: 'text', text }];
  if (Array.isArray(content)) return [...textParts(head), ...toTextParts(content)];
  const files = toFile('document', document);
  return [
    ...textParts(context),
    ...files.map((file) => (typeof name === 'string' ? { ...file, filename: name } : file)),
  ];
}

const searchResult = ({ title, source, content }: JsonObject): PromptPart[] => {
  const head = [title, source].filter((text) => typeof text === 'string').join('\n');
  return [...textParts(head), ...toTextParts(content)];
};

/** Returns the parts of content that a guardrail of AWS checks, because this content belongs to the message too. */
function toGuarded({ text, image }: JsonObject): PromptPart[] {
  if (isJsonObject(image)) return toFile('image', image);
  return isJsonObject(text) ? textParts(text.text) : [];
}
