// Reads a Messages request, and refuses it as Anthropic would. The reader implements the rules that clients and
// translators break, and accepts unknown fields.
import type { ProviderRefusal, Received } from '../call.ts';
import { type ModelRequest, plainRequest, type RequestTurn } from '../model-request.ts';
import { optionalIn, unsupportedByClaude } from '../refused-schemas.ts';
import { redactedReasoning, signatureOf } from '../signature.ts';

interface MessagesBlock {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: string | readonly MessagesBlock[];
}

interface MessagesMessage {
  readonly role: string;
  readonly content: string | readonly MessagesBlock[];
}

/** The fields that are read; the request may have others. */
export interface MessagesBody {
  readonly model: string;
  readonly messages: readonly MessagesMessage[];
  readonly max_tokens?: number;
  readonly system?: string | readonly MessagesBlock[];
  readonly stream?: boolean;
  readonly stop_sequences?: readonly string[];
  readonly tools?: readonly { readonly name: string; readonly input_schema?: unknown }[];
  readonly tool_choice?: {
    readonly type: string;
    readonly name?: string;
    readonly disable_parallel_tool_use?: boolean;
  };
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number };
  readonly output_config?: { readonly format?: { readonly schema?: unknown } | null };
  /** The older name of `output_config.format`. */
  readonly output_format?: { readonly schema?: unknown } | null;
}

export function readMessages({ headers, body: json }: Received): ModelRequest | string {
  const body = json as MessagesBody | null | undefined;
  if (typeof body !== 'object' || body === null) return 'The request body is not valid JSON.';
  const invalid =
    headers['anthropic-version'] === undefined ? 'anthropic-version: header is required' : whyInvalid(body);
  if (invalid !== undefined) return invalid;
  const { model, system, messages, tools = [], tool_choice: choice, thinking, output_config, output_format } = body;
  const schema = (output_config?.format ?? output_format)?.schema;
  return {
    ...plainRequest,
    model,
    isStream: body.stream === true,
    turns: [...blocksOf(system ?? []).map(({ text = '' }) => ({ role: 'system', text })), ...messages.flatMap(turnsOf)],
    // A tool without a schema is run by the provider.
    tools: tools
      .filter((tool) => tool.input_schema !== undefined)
      .map(({ name, input_schema: parameters }) => ({ name, parameters })),
    toolChoice: toolChoiceOf(choice),
    isParallel: choice?.disable_parallel_tool_use !== true,
    outputTokensMax: body.max_tokens,
    stopSequences: body.stop_sequences ?? [],
    output: schema === undefined ? 'text' : { schema },
    isThinking: thinking?.type === 'enabled' || thinking?.type === 'adaptive',
  };
}

export function toolChoiceOf(choice: MessagesBody['tool_choice']): ModelRequest['toolChoice'] {
  if (choice?.type === 'tool') return { name: choice.name ?? '' };
  return choice?.type === 'any' ? 'required' : choice?.type === 'none' ? 'none' : 'auto';
}

const blocksOf = (content: string | readonly MessagesBlock[]): readonly MessagesBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const textOf = (content: string | readonly MessagesBlock[] = []): string =>
  blocksOf(content)
    .map(({ text = '' }) => text)
    .join(' ');

/**
 * Returns the turns. Every text block is a turn of its own, because agents place their own remarks before the user's
 * text. Results come last.
 */
function turnsOf({ role, content }: MessagesMessage): readonly RequestTurn[] {
  const blocks = blocksOf(content);
  const images = (list: readonly MessagesBlock[]) => list.filter(({ type }) => type === 'image').length;
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const texts = blocks.filter(({ type }) => ['text', 'thinking'].includes(type));
  const toolArguments = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ input }) => JSON.stringify(input ?? {}));
  return [
    { role: '', text: '', images: images(blocks), toolArguments },
    ...texts.map(({ text, thinking }) => ({ role, text: text ?? thinking ?? '' })),
    ...results.map(({ content: result }) => ({
      role: 'tool',
      text: textOf(result),
      images: images(blocksOf(result ?? [])),
    })),
  ];
}

const thinkingTokensMin = 1024;

export const forcedWhileThinking = 'Thinking may not be enabled when tool_choice forces tool use.';

function whyInvalid(body: MessagesBody): string | undefined {
  const { model, messages, max_tokens: outputTokensMax, thinking } = body;
  if (typeof model !== 'string' || model === '') return 'model: Field required';
  if (!Array.isArray(messages)) return 'messages: Field required';
  if (messages.length === 0) return 'messages: at least one message is required';
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  if (budget !== undefined && budget < thinkingTokensMin) {
    return `thinking.enabled.budget_tokens: Input should be greater than or equal to ${thinkingTokensMin}`;
  }
  if (budget !== undefined && outputTokensMax !== undefined && budget >= outputTokensMax) {
    return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  }
  if (thinking?.type === 'enabled' && ['any', 'tool'].includes(body.tool_choice?.type ?? ''))
    return forcedWhileThinking;
  return (
    invalidNames(body) ??
    messages.map((message, index) => whyInvalidMessage(message, index, messages)).find(isText) ??
    unthoughtTools(body)
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';

const toolName = /^[a-zA-Z0-9_-]{1,128}$/;
const toolId = /^[a-zA-Z0-9_-]+$/;

function invalidNames({ tools = [], messages }: MessagesBody): string | undefined {
  const names = tools.map(({ name }) => name);
  const odd = names.findIndex((name) => !toolName.test(name));
  if (odd >= 0) return `tools.${odd}.custom.name: String should match pattern '${toolName.source}'`;
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.';
  const uses = messages.flatMap(({ content }) => blocksOf(content ?? '')).filter(({ type }) => type === 'tool_use');
  const oddUse = uses.find(({ id = '', name = '' }) => !toolId.test(id) || !toolName.test(name));
  if (oddUse !== undefined) return `messages: tool_use ${oddUse.name} (${oddUse.id}): String should match pattern`;
  return new Set(uses.map(({ id }) => id)).size < uses.length ? 'messages: `tool_use` ids must be unique' : undefined;
}

function whyInvalidMessage(
  message: MessagesMessage,
  index: number,
  messages: readonly MessagesMessage[],
): string | undefined {
  const content = message?.content;
  if (typeof message?.role !== 'string') return `messages.${index}.role: Field required`;
  if (typeof content !== 'string' && !Array.isArray(content)) return `messages.${index}.content: Field required`;
  const blocks = blocksOf(content);
  if (content.length === 0 && !(index === messages.length - 1 && message.role === 'assistant')) {
    return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
  }
  if (blocks.some(({ type, text }) => type === 'text' && text === '')) {
    return 'messages: text content blocks must be non-empty';
  }
  if (blocks.some(({ type, text }) => type === 'text' && text?.trim() === '')) {
    return 'messages: text content blocks must contain non-whitespace text';
  }
  const forged = blocks.findIndex(({ type, thinking = '', signature, data }) =>
    type === 'thinking'
      ? signature !== signatureOf(thinking)
      : type === 'redacted_thinking' && data !== redactedReasoning,
  );
  if (forged >= 0) return `messages.${index}.content.${forged}: Invalid \`signature\` in \`thinking\` block`;
  const toolUseIds = blocksOf(messages[index - 1]?.content ?? '').map(({ id }) => id);
  const orphan = blocks.find(({ type, tool_use_id: id }) => type === 'tool_result' && !toolUseIds.includes(id));
  if (orphan !== undefined) {
    return `messages.${index}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  const next = messages[index + 1];
  const resultIds = next === undefined ? [] : blocksOf(next.content).map(({ tool_use_id }) => tool_use_id);
  const open = blocks.filter(({ type, id }) => type === 'tool_use' && !resultIds.includes(id)).map(({ id }) => id);
  if (open.length === 0 || next === undefined) return undefined;
  return `messages.${index + 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`;
}

/**
 * Returns a fault if thinking is on, and the request answers tool calls of an assistant turn that does not begin with
 * its thinking.
 */
function unthoughtTools({ messages, thinking }: MessagesBody): string | undefined {
  if (thinking?.type !== 'enabled') return undefined;
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const blocks = blocksOf(messages[last]?.content ?? []);
  const [first] = blocks;
  if (!blocks.some(({ type }) => type === 'tool_use') || first?.type.endsWith('thinking')) return undefined;
  return `messages.${last}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`;
}

// Refuses requests that the format can express, as real providers do.

interface MessagesHistory {
  readonly messages?: readonly HistoryMessage[];
  readonly tools?: readonly { readonly strict?: boolean | null; readonly input_schema?: unknown }[] | null;
  readonly thinking?: { readonly type?: string } | null;
}

interface HistoryMessage {
  readonly content?: string | readonly HistoryBlock[] | null;
}

interface HistoryBlock {
  readonly type?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly signature?: string;
}

const historyBlocks = (message: HistoryMessage | undefined): readonly HistoryBlock[] =>
  Array.isArray(message?.content) ? (message.content as readonly HistoryBlock[]) : [];

interface ClaudesTool {
  readonly strict: boolean | null | undefined;
  readonly schema: unknown;
}

/**
 * Returns the refusal of a limit on all strict tools together. Source:
 * https://github.com/strands-agents/harness-sdk/issues/2664.
 */
export function refusedByClaude(tools: readonly ClaudesTool[]): string | undefined {
  const strict = tools.filter((tool) => tool.strict === true);
  if (strict.length > strictToolsMax) return `tools: Too many strict tools. The maximum is ${strictToolsMax}.`;
  for (const [index, tool] of tools.entries()) {
    const words = tool.strict === true ? unsupportedByClaude(tool.schema) : undefined;
    if (words !== undefined) return `tools.${index}.custom: ${words}`;
  }
  const optional = strict.reduce((sum, { schema }) => sum + optionalIn(schema), 0);
  return optional > optionalMax
    ? `Schemas contains too many optional parameters (${optional}), which would make grammar compilation inefficient. Reduce the number of optional parameters in your tool schemas (limit: ${optionalMax}).`
    : undefined;
}

const strictToolsMax = 20;
const optionalMax = 24;

export const disabledThinking = (thinking: { readonly type?: string } | null | undefined, model: string) =>
  /claude-(fable|mythos)/.test(model) && thinking?.type === 'disabled'
    ? '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
    : undefined;

/** The page that documents adaptive thinking. */
export const adaptiveThinking =
  'https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html';

export const messagesRefusals: readonly ProviderRefusal<MessagesHistory>[] = [
  { source: adaptiveThinking, why: ({ thinking }, model) => disabledThinking(thinking, model) },
  {
    source: 'https://github.com/earendil-works/pi/issues/9953',
    why: ({ tools }) =>
      refusedByClaude((tools ?? []).map((tool) => ({ strict: tool.strict, schema: tool.input_schema }))),
  },
  {
    source: 'https://github.com/anthropics/claude-code/issues/13460',
    why({ messages = [] }) {
      for (const [at, message] of messages.entries()) {
        const toolUseIds = new Set(
          historyBlocks(messages[at - 1]).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])),
        );
        for (const [place, { type, tool_use_id: id }] of historyBlocks(message).entries()) {
          if (type !== 'tool_result' || toolUseIds.has(id)) continue;
          return `messages.${at}.content.${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
        }
      }
      return undefined;
    },
  },
  {
    source: 'https://github.com/langchain-ai/langchain/pull/29971',
    why({ messages = [] }) {
      for (const [at, message] of messages.entries()) {
        const place = historyBlocks(message).findIndex(
          ({ type, signature }) => type === 'thinking' && signature === undefined,
        );
        if (place >= 0) return `messages.${at}.content.${place}.thinking.signature: Field required`;
      }
      return undefined;
    },
  },
];
