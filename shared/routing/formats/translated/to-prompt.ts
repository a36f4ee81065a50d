// The messages of a chat completion as a prompt of the language-model interface.
import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4TextPart } from '@ai-sdk/provider';
import { isJsonObject } from '../../../protocol/wire/index.ts';
import { type ContentPart, optionsOf, toParts, toTextParts } from './content-parts.ts';
import { createKnownCalls, type KnownCalls } from './known-calls.ts';
import { readReasoningDetails } from './reasoning-details.ts';
import type { TranslatedApi } from './translated-api.ts';

type Json = Readonly<Record<string, unknown>>;
type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

export interface PromptTarget {
  readonly api: TranslatedApi;
  /** No tool goes out with it, and the target refuses calls of tools that are not declared: they are told as text. */
  readonly toolsAsText: boolean;
}

/**
 * Instructions at the start are the system prompt; later ones are text of the user, because not every target allows them
 * elsewhere, and stand behind the results of the calls before them, which have to follow at once.
 */
export function toPrompt(messages: unknown, target: PromptTarget): LanguageModelV4Prompt {
  const list = (Array.isArray(messages) ? messages : []).filter(isJsonObject);
  const start = list.findIndex(({ role }) => !isInstruction(role));
  // Every target wants a message of the user.
  const system = start < 0 ? [] : list.slice(0, start);
  const prompt: LanguageModelV4Prompt = system.flatMap(toSystem);
  const calls = createKnownCalls();
  let waiting: LanguageModelV4Prompt = [];
  for (const message of list.slice(system.length)) {
    if (message.role === 'tool') {
      addResult(prompt, message, calls, target);
      continue;
    }
    const read = message.role === 'assistant' ? toAssistant(message, calls, target) : toUser(message);
    if (isInstruction(message.role)) {
      waiting.push(...read);
      continue;
    }
    prompt.push(...waiting, ...read);
    waiting = [];
  }
  return [...prompt, ...waiting];
}

const isInstruction = (role: unknown): boolean => role === 'system' || role === 'developer';

const toSystem = (message: Json): LanguageModelV4Prompt =>
  toTextParts(message.content).map(({ text, providerOptions = optionsOf(message).providerOptions }) => ({
    role: 'system',
    content: text,
    ...(providerOptions === undefined ? {} : { providerOptions }),
  }));

function toUser(message: Json): LanguageModelV4Prompt {
  const content = toParts(message.content);
  return content.length === 0 ? [] : [{ role: 'user', content, ...optionsOf(message) }];
}

function toAssistant(message: Json, calls: KnownCalls, { api, toolsAsText }: PromptTarget): LanguageModelV4Prompt {
  const { parts, signatures } = readReasoningDetails(message, api);
  const texts = [...toTextParts(message.content), ...toTextParts(message.refusal)];
  const signature = signatures.get('');
  if (signature !== undefined) {
    const last = texts.pop() ?? emptyText;
    texts.push({ ...last, providerOptions: { ...last.providerOptions, google: { thoughtSignature: signature } } });
  }
  const toolCalls = (Array.isArray(message.tool_calls) ? message.tool_calls : []).filter(isJsonObject);
  const called = toolCalls.map((call): AssistantPart => {
    const fn = isJsonObject(call.function) ? call.function : {};
    const { id, name } = calls.add(call.id, textOf(fn.name) ?? '');
    if (toolsAsText) return { type: 'text', text: `[Called the tool ${name} with ${textOf(fn.arguments) ?? '{}'}]` };
    const signed = signatureOf(call) ?? signatures.get(textOf(call.id) ?? '');
    const providerOptions = signed === undefined ? {} : { providerOptions: { google: { thoughtSignature: signed } } };
    return {
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input: calls.readArguments(fn.arguments),
      ...providerOptions,
    };
  });
  // What led to a call belongs to the call, not to a text about it.
  const thoughts = toolsAsText && called.length > 0 ? [] : parts;
  const content = [...thoughts, ...texts, ...called];
  return content.length === 0 ? [] : [{ role: 'assistant', content, ...optionsOf(message) }];
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const emptyText: LanguageModelV4TextPart = { type: 'text', text: '' };

const signatureOf = ({ extra_content: extra }: Json): string | undefined => {
  const google = isJsonObject(extra) && isJsonObject(extra.google) ? extra.google : {};
  return typeof google.thought_signature === 'string' ? google.thought_signature : undefined;
};

/** Results that follow each other are one message: some targets want all that belong to one answer together. */
function addResult(
  prompt: LanguageModelV4Prompt,
  message: Json,
  calls: KnownCalls,
  { api, toolsAsText }: PromptTarget,
): void {
  const { id, name } = calls.find(message.tool_call_id) ?? calls.add(message.tool_call_id, nameOf(message));
  const parts = toParts(message.content);
  if (toolsAsText) {
    const content: ContentPart[] = [{ type: 'text', text: `[The tool ${name} answered]` }, ...parts];
    prompt.push({ role: 'user', content });
    return;
  }
  // A part has no cache mark of its own inside a result: the result as a whole does.
  const marked = parts.find(({ providerOptions }) => providerOptions !== undefined) ?? optionsOf(message);
  const content: ToolMessage['content'][number] = {
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    // Bedrock refuses a result without a word.
    output: toOutput(parts.length === 0 && api === 'converse' ? [noOutput] : parts),
    ...(marked.providerOptions === undefined ? {} : { providerOptions: marked.providerOptions }),
  };
  const last = prompt.at(-1);
  if (last?.role === 'tool') last.content.push(content);
  else prompt.push({ role: 'tool', content: [content] });
}

const noOutput: LanguageModelV4TextPart = { type: 'text', text: '(no output)' };

const nameOf = ({ name }: Json): string => (typeof name === 'string' && name !== '' ? name : 'tool');

type ToolOutput = Extract<ToolMessage['content'][number], { type: 'tool-result' }>['output'];

const toOutput = (parts: readonly ContentPart[]): ToolOutput =>
  parts.every((part) => part.type === 'text')
    ? { type: 'text', value: parts.map(({ text }) => text).join('\n') }
    : { type: 'content', value: parts.map(({ providerOptions: _marked, ...part }) => part) };
