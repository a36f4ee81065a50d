// The messages of a request of Messages as a prompt.
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  isJsonObject,
  type JsonObject,
  openEnvelope,
  type SignedEnvelope,
} from '../../../../../protocol/wire/index.ts';
import {
  type AssistantPart,
  addResults,
  type ContentPart,
  cacheMark,
  createKnownCalls,
  envelopeOptions,
  forEachObject,
  type KnownCall,
  type KnownCalls,
  type ToolMessage,
  type ToolNames,
  type ToolOutput,
  textParts,
} from '../../middle/index.ts';
import { toParts, toTextParts } from './message-parts.ts';

export async function toPrompt(
  { system, messages }: JsonObject,
  names: ToolNames,
  nextStep: () => Promise<void>,
): Promise<LanguageModelV4Prompt> {
  const prompt: LanguageModelV4Prompt = [...toSystem(system)];
  const calls = createKnownCalls();
  await forEachObject(messages, nextStep, (message) => {
    if (message.role === 'assistant') prompt.push(...toAssistant(message.content, calls, names));
    else if (message.role === 'system') prompt.push(...toSystem(message.content));
    else addUser(prompt, message.content, calls);
  });
  return prompt;
}

const toSystem = (content: unknown): LanguageModelV4Prompt =>
  toTextParts(content).map(({ text, ...marked }) => ({ role: 'system', content: text, ...withoutType(marked) }));

const withoutType = ({ type: _type, ...rest }: { readonly type?: string }) => rest;

/** Results of calls come first: they have to follow the calls at once. */
function addUser(prompt: LanguageModelV4Prompt, content: unknown, calls: KnownCalls): void {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  for (const block of blocks) {
    const call = isResult(block) ? calls.find(block.tool_use_id) : undefined;
    if (call !== undefined) addResults(prompt, toResult(block, call));
  }
  const parts = Array.isArray(content) ? blocks.flatMap((block) => toUserParts(block, calls)) : toParts(content);
  if (parts.length > 0) prompt.push({ role: 'user', content: parts });
}

/** A result without its call every provider refuses. */
function toUserParts(block: JsonObject, calls: KnownCalls): ContentPart[] {
  if (!isResult(block)) return toParts([block]);
  return calls.find(block.tool_use_id) === undefined
    ? [...toParts('Result of a tool:'), ...toParts(block.content)]
    : [];
}

const isResult = ({ type }: JsonObject): boolean => type === 'tool_result';

function toResult(block: JsonObject, { id, name }: KnownCall): ToolMessage {
  const parts = toParts(block.content).map(({ providerOptions: _marked, ...part }) => part as ContentPart);
  return {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: id,
        toolName: name,
        output: toOutput(parts, block.is_error === true),
        ...cacheMark(block.cache_control),
      },
    ],
  };
}

function toOutput(parts: readonly ContentPart[], isError: boolean): ToolOutput {
  if (!parts.every((part) => part.type === 'text')) {
    // There is no word for a failure beside images: the text says it.
    const failed: ContentPart[] = isError ? [{ type: 'text', text: 'The tool failed.' }] : [];
    return { type: 'content', value: [...failed, ...parts] as Extract<ToolOutput, { type: 'content' }>['value'] };
  }
  const value = parts.map((part) => ('text' in part ? part.text : '')).join('\n');
  return isError ? { type: 'error-text', value } : { type: 'text', value };
}

function toAssistant(content: unknown, calls: KnownCalls, names: ToolNames): LanguageModelV4Prompt {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const signedCalls = new Map<string, SignedEnvelope>();
  const parts: AssistantPart[] = textParts(content);
  let lastText = -1;
  const add = (part: AssistantPart): void => {
    if (part.type === 'text') lastText = parts.length;
    parts.push(part);
  };
  for (const block of blocks) {
    const envelope = openEnvelope(block.type === 'redacted_thinking' ? block.data : block.signature);
    if (typeof envelope?.of === 'object') signedCalls.set(envelope.of.call, envelope);
    else if (envelope?.of === 'text') {
      if (lastText < 0) add({ type: 'text', text: '' });
      parts[lastText] = withSigned(parts[lastText] as AssistantPart, envelope);
    } else for (const part of toAssistantParts(block, envelope, { calls, names, signedCalls })) add(part);
  }
  return parts.length === 0 ? [] : [{ role: 'assistant', content: parts }];
}

const withSigned = (part: AssistantPart, envelope: SignedEnvelope): AssistantPart => ({
  ...part,
  providerOptions: { ...part.providerOptions, ...envelopeOptions(envelope) },
});

interface Known {
  readonly calls: KnownCalls;
  readonly names: ToolNames;
  readonly signedCalls: ReadonlyMap<string, SignedEnvelope>;
}

function toAssistantParts(block: JsonObject, envelope: SignedEnvelope | undefined, known: Known): AssistantPart[] {
  const { type } = block;
  if (type === 'thinking' || type === 'redacted_thinking') {
    // Without an envelope it is signed by a provider for itself: no other can read it.
    if (envelope === undefined) return [];
    const text = typeof block.thinking === 'string' ? block.thinking : '';
    return [{ type: 'reasoning', text, providerOptions: envelopeOptions(envelope) }];
  }
  if (type === 'tool_use') return [toCall(block, known)];
  if (typeof type === 'string' && providerRan.test(type)) return [{ type: 'text', text: describeRun(block) }];
  return toParts([block]).filter((part) => part.type === 'text' || part.type === 'file');
}

/** What a provider ran itself, and what came of it: to any other model it is text. */
const providerRan = /^(server_tool_use|mcp_tool_use|[a-z_]+_tool_result)$/;
const runMaxCharacters = 16_384;

function describeRun({ name, input, content, type }: JsonObject): string {
  const what = type === 'server_tool_use' || type === 'mcp_tool_use' ? `Called ${String(name)}` : 'It answered';
  return `[${what}: ${JSON.stringify(input ?? content ?? null).slice(0, runMaxCharacters)}]`;
}

function toCall(block: JsonObject, { calls, names, signedCalls }: Known): AssistantPart {
  const { id, name } = calls.add(block.id, names.short(typeof block.name === 'string' ? block.name : ''));
  const signed = typeof block.id === 'string' ? signedCalls.get(block.id) : undefined;
  const options = {
    ...cacheMark(block.cache_control).providerOptions,
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
