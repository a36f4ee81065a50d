// Converts the messages of a Messages request to a prompt.
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import {
  type AssistantPart,
  addResults,
  cacheMark,
  createKnownCalls,
  envelopeOptions,
  fileOfData,
  fileOfUrl,
  isBlank,
  type KnownCall,
  type KnownCalls,
  type OpenedEnvelope,
  type OptionalMember,
  type PromptPart,
  type PromptReader,
  phaseOptions,
  type ToolMessage,
  type ToolNames,
  type ToolOutput,
  textParts,
  withoutMark,
} from '../../../hub/index.ts';
import { type Envelopes, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { blockUse } from '../block-types.ts';

interface MessagePromptReading {
  readonly names: ToolNames;
  readonly open: Envelopes['open'];
}

export function openPrompt({ system }: JsonObject, reading: MessagePromptReading): PromptReader {
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

const toSystem = (content: unknown): LanguageModelV4Prompt =>
  toTextParts(content).map(({ text, ...marked }) => ({ role: 'system', content: text, ...withoutType(marked) }));

const withoutType = ({ type: _type, ...rest }: { readonly type?: string }) => rest;

/** Adds a user's message. Results of calls come first, because they must follow the calls directly. */
function addUser(prompt: LanguageModelV4Prompt, content: unknown, calls: KnownCalls): void {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  for (const block of blocks) {
    const call = isResult(block) ? calls.takeResult(block.tool_use_id) : undefined;
    if (call !== undefined) addResults(prompt, toResult(block, call));
  }
  const parts = Array.isArray(content) ? blocks.flatMap((block) => toUserParts(block, calls)) : toParts(content);
  if (parts.length > 0) prompt.push({ role: 'user', content: parts });
}

/** Returns the parts of a user's block. A result without its call becomes text, because every provider refuses it. */
function toUserParts(block: JsonObject, calls: KnownCalls): PromptPart[] {
  if (!isResult(block)) return toParts([block]);
  return calls.has(block.tool_use_id) ? [] : [...toParts('Result of a tool:'), ...toParts(block.content)];
}

const isResult = ({ type }: JsonObject): boolean => type === 'tool_result';

function toResult(block: JsonObject, { id, name }: KnownCall): ToolMessage {
  const parts = toParts(block.content).map(withoutMark);
  return {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: id,
        toolName: name,
        output: toOutput(parts, block.is_error === true),
        ...cacheMark(block),
      },
    ],
  };
}

function toOutput(parts: readonly PromptPart[], isError: boolean): ToolOutput {
  if (!parts.every((part) => part.type === 'text')) {
    // Formats cannot mark a failure together with images, so the failure is added as text.
    const failed: PromptPart[] = isError ? [{ type: 'text', text: 'The tool failed.' }] : [];
    return { type: 'content', value: [...failed, ...parts] as Extract<ToolOutput, { type: 'content' }>['value'] };
  }
  const value = parts.map((part) => ('text' in part ? part.text : '')).join('\n');
  return isError ? { type: 'error-text', value } : { type: 'text', value };
}

interface AssistantReading extends MessagePromptReading {
  readonly calls: KnownCalls;
  readonly addUnknownField: (member: string) => void;
}

function toAssistant(content: unknown, path: string, reading: AssistantReading): LanguageModelV4Prompt {
  reading.calls.beginAnswer();
  const signedCalls = new Map<string, OpenedEnvelope>();
  const parts: AssistantPart[] = textParts(content);
  let lastText = -1;
  let nextTextOptions: SharedV4ProviderOptions | undefined;
  /** True if the previous text had a signature, which is sent back without its text too. */
  let isSignedText = false;
  const add = (part: AssistantPart): void => {
    if (part.type !== 'text') {
      parts.push(part);
      return;
    }
    lastText = parts.length;
    parts.push(nextTextOptions === undefined ? part : withOptions(part, nextTextOptions));
    nextTextOptions = undefined;
    isSignedText = false;
  };
  for (const [at, block] of (Array.isArray(content) ? content : []).entries()) {
    if (!isJsonObject(block)) continue;
    const envelope = openThinking(block, `${path}[${at}]`, reading);
    if (typeof envelope?.of === 'object') signedCalls.set(envelope.of.call, envelope);
    else if (envelope?.of === 'text') {
      nextTextOptions = envelopeOptions(envelope);
      isSignedText = true;
    } else if (envelope?.of === 'text_before') {
      if (lastText < 0) add({ type: 'text', text: '' });
      parts[lastText] = withOptions(parts[lastText] as AssistantPart, envelopeOptions(envelope));
    } else {
      for (const part of toAssistantParts(block, envelope, { ...reading, signedCalls })) add(part);
      if (envelope !== undefined) nextTextOptions = phaseOptions(envelope) ?? nextTextOptions;
    }
  }
  if (nextTextOptions !== undefined && isSignedText) add({ type: 'text', text: '' });
  return parts.length === 0 ? [] : [{ role: 'assistant', content: parts }];
}

/**
 * Returns undefined for thinking that a provider signed for itself, or that another workspace got. No other model can
 * read it.
 */
function openThinking(
  { type, data, signature }: JsonObject,
  path: string,
  { open, addUnknownField }: AssistantReading,
): OpenedEnvelope | undefined {
  const [member, sealed] = type === 'redacted_thinking' ? ['data', data] : ['signature', signature];
  if (!isThinking(type)) return undefined;
  const envelope = open(sealed);
  if (envelope === undefined && typeof sealed === 'string' && sealed !== '') addUnknownField(`${path}.${member}`);
  return envelope && { ...envelope, field: `${path}.${member}` };
}

const isThinking = (type: unknown): boolean => type === 'thinking' || type === 'redacted_thinking';

const withOptions = (part: AssistantPart, options: SharedV4ProviderOptions): AssistantPart => ({
  ...part,
  providerOptions: { ...part.providerOptions, ...options },
});

interface Known extends AssistantReading {
  readonly signedCalls: ReadonlyMap<string, OpenedEnvelope>;
}

function toAssistantParts(block: JsonObject, envelope: OpenedEnvelope | undefined, known: Known): AssistantPart[] {
  const { type } = block;
  if (isThinking(type)) {
    if (envelope === undefined) return [];
    const text = typeof block.thinking === 'string' ? block.thinking : '';
    return [{ type: 'reasoning', text, providerOptions: envelopeOptions(envelope) }];
  }
  if (type === 'tool_use') return [toCall(block, known)];
  return toParts([block]).filter((part) => part.type === 'text' || part.type === 'file');
}

function toCall(block: JsonObject, { calls, names, signedCalls }: Known): AssistantPart {
  const { id, name } = calls.add(block.id, names.short(typeof block.name === 'string' ? block.name : ''));
  const signed = typeof block.id === 'string' ? signedCalls.get(block.id) : undefined;
  const options = {
    ...cacheMark(block).providerOptions,
    ...(signed === undefined ? {} : envelopeOptions(signed)),
  };
  return {
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: calls.readArguments(block.input),
    ...(Object.keys(options).length === 0 ? {} : { providerOptions: options }),
  };
}

// Makes the content parts of a message, which are text, images and documents in the types of the language-model
// interface.

/** Returns the parts of a content, with a plain text as one part. Blocks of another kind have no parts. */
function toParts(content: unknown): PromptPart[] {
  if (typeof content === 'string') return textParts(content);
  return (Array.isArray(content) ? content.filter(isJsonObject) : []).flatMap((block) => {
    const [first, ...rest] = toBlockParts(block).filter((part) => part.type !== 'text' || !isBlank(part.text));
    return first === undefined ? [] : [{ ...first, ...cacheMark(block) }, ...rest];
  });
}

const toTextParts = (content: unknown): LanguageModelV4TextPart[] =>
  toParts(content).filter((part) => part.type === 'text');

/** Returns the parts of one block, which are several for a document made of blocks. */
function toBlockParts(block: JsonObject): PromptPart[] {
  if (block.type === 'text' && typeof block.text === 'string') return [{ type: 'text', text: block.text }];
  if (block.type === 'image') return toFile(block, 'image');
  if (block.type === 'document') return toDocument(block);
  if (block.type === 'search_result') return searchResult(block);
  // The block is a result of a tool search; the tools themselves are sent in full.
  if (block.type === 'tool_reference' && typeof block.tool_name === 'string') {
    return [{ type: 'text', text: `Tool found: ${block.tool_name}` }];
  }
  return blockUse(block.type) === 'as_text' ? [{ type: 'text', text: describeRun(block) }] : [];
}

const runMaxCharacters = 16_384;

/** Describes a tool run of another provider, with its result, as text for any other model. */
function describeRun({ type, name, input, content, ...rest }: JsonObject): string {
  const isCall = type === 'server_tool_use' || type === 'mcp_tool_use';
  const what = isCall ? `Called ${String(name)}` : 'It answered';
  return `[${what}: ${JSON.stringify(input ?? content ?? rest).slice(0, runMaxCharacters)}]`;
}

function toFile({ source }: JsonObject, kind: 'image' | 'file'): LanguageModelV4FilePart[] {
  const { type, data, media_type: mediaType, url } = isJsonObject(source) ? source : {};
  if (type === 'url' && typeof url === 'string' && URL.canParse(url)) return [fileOfUrl(url, kind)];
  if (type !== 'base64' || typeof data !== 'string') return [];
  const fileType = typeof mediaType === 'string' ? mediaType : kind === 'image' ? 'image/png' : 'application/pdf';
  return [fileOfData(fileType, data)];
}

function toDocument(block: JsonObject): PromptPart[] {
  const { title, context, source } = block;
  const { type, data, content } = isJsonObject(source) ? source : {};
  const about = [title, context].filter((text) => typeof text === 'string' && !isBlank(text)).join('\n');
  const head = textParts(about);
  if (type === 'text' && typeof data === 'string') return [...head, { type: 'text', text: data }];
  if (type === 'content') return [...head, ...toParts(content)];
  const files = toFile(block, 'file').map((file) => (typeof title === 'string' ? { ...file, filename: title } : file));
  return [...textParts(context), ...files];
}

const searchResult = ({ title, source, content }: JsonObject): PromptPart[] => {
  const head = [title, source].filter((text) => typeof text === 'string').join('\n');
  return [...(head === '' ? [] : [{ type: 'text', text: head } as const]), ...toParts(content)];
};
