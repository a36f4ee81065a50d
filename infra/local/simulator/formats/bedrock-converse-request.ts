// Reads a Converse request, and refuses it as Amazon Bedrock would.
import type { ProviderRefusal, Received } from '../call.ts';
import { type ModelRequest, plainRequest, type RequestTurn } from '../model-request.ts';
import { redactedReasoning, signatureOf } from '../signature.ts';
import {
  adaptiveThinking,
  disabledThinking,
  forcedWhileThinking,
  type MessagesBody,
  refusedByClaude,
  toolChoiceOf,
} from './anthropic-messages-request.ts';

interface ConverseBlock {
  readonly text?: string;
  readonly json?: unknown;
  readonly image?: unknown;
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly input?: unknown };
  readonly toolResult?: { readonly toolUseId: string; readonly content?: readonly ConverseBlock[] };
  readonly reasoningContent?: {
    readonly reasoningText?: { readonly text?: string; readonly signature?: string };
    readonly redactedContent?: string;
  };
}

interface ConverseMessage {
  readonly role: string;
  readonly content: readonly ConverseBlock[];
}

/** The fields that are read; the request may have others. */
interface ConverseBody {
  readonly messages: readonly ConverseMessage[];
  readonly system?: readonly ConverseBlock[];
  readonly inferenceConfig?: { readonly maxTokens?: number; readonly stopSequences?: readonly string[] };
  readonly toolConfig?: {
    readonly tools?: readonly { readonly toolSpec?: ToolSpec }[];
    readonly toolChoice?: { readonly any?: object; readonly tool?: { readonly name: string } };
  };
  readonly outputConfig?: {
    readonly textFormat?: { readonly structure?: { readonly jsonSchema?: { readonly schema?: string } } };
  };
  /** Further fields of the model's own format, which is Claude's format in the simulator. */
  readonly additionalModelRequestFields?: {
    readonly thinking?: { readonly type?: string };
    readonly tool_choice?: MessagesBody['tool_choice'];
    readonly output_config?: { readonly format?: { readonly schema?: unknown } };
  };
}

interface ToolSpec {
  readonly name: string;
  readonly inputSchema?: { readonly json?: unknown };
}

export function readConverse({ body: json, fromPath }: Received): ModelRequest | string {
  const body = json as ConverseBody | null | undefined;
  if (typeof body !== 'object' || body === null) return 'The request body is not valid JSON.';
  const invalid = whyInvalid(body);
  if (invalid !== undefined) return invalid;
  const { messages, system = [], inferenceConfig, toolConfig, additionalModelRequestFields: more } = body;
  const schema = schemaOf(body);
  return {
    ...plainRequest,
    model: fromPath.model ?? '',
    isStream: fromPath.method === 'converse-stream',
    turns: [
      ...system.map(({ text = '' }) => ({ role: 'system', text })),
      ...messages.flatMap(({ role, content }) => resultsLast(content).map((block) => turnOf(role, block))),
    ],
    tools: (toolConfig?.tools ?? [])
      .flatMap(({ toolSpec = [] }) => toolSpec)
      .map(({ name, inputSchema }) => ({ name, parameters: inputSchema?.json })),
    toolChoice: choiceOf(body),
    isParallel: more?.tool_choice?.disable_parallel_tool_use !== true,
    outputTokensMax: inferenceConfig?.maxTokens,
    stopSequences: inferenceConfig?.stopSequences ?? [],
    output: schema === undefined ? 'text' : { schema },
    isThinking: ['enabled', 'adaptive'].includes(more?.thinking?.type ?? ''),
  };
}

/**
 * Returns the choice of tools. Claude's own field may be used, because Converse has no field that limits an answer to
 * one call.
 */
function choiceOf({ toolConfig, additionalModelRequestFields: more }: ConverseBody): ModelRequest['toolChoice'] {
  if (more?.tool_choice !== undefined) return toolChoiceOf(more.tool_choice);
  const { any, tool } = toolConfig?.toolChoice ?? {};
  return tool !== undefined ? { name: tool.name } : any !== undefined ? 'required' : 'auto';
}

function schemaOf({ outputConfig, additionalModelRequestFields: more }: ConverseBody): unknown {
  const text = outputConfig?.textFormat?.structure?.jsonSchema?.schema;
  return text === undefined ? more?.output_config?.format?.schema : JSON.parse(text);
}

const isResult = ({ toolResult }: ConverseBlock): boolean => toolResult !== undefined;

const resultsLast = (blocks: readonly ConverseBlock[]): readonly ConverseBlock[] => [
  ...blocks.filter((block) => !isResult(block)),
  ...blocks.filter(isResult),
];

function turnOf(role: string, { text, image, toolUse, toolResult, reasoningContent }: ConverseBlock): RequestTurn {
  if (toolUse !== undefined) return { role, text: '', toolArguments: [JSON.stringify(toolUse.input ?? {})] };
  if (toolResult === undefined) {
    return { role, text: text ?? reasoningContent?.reasoningText?.text ?? '', images: image === undefined ? 0 : 1 };
  }
  const content = toolResult.content ?? [];
  return {
    role: 'tool',
    text: content.map((part) => part.text ?? (part.json === undefined ? '' : JSON.stringify(part.json))).join(' '),
    images: content.filter((part) => part.image !== undefined).length,
  };
}

function whyInvalid(body: ConverseBody): string | undefined {
  const { messages, toolConfig, additionalModelRequestFields: more } = body;
  if (!Array.isArray(messages) || messages.length === 0) {
    return '1 validation error detected: Value at messages failed to satisfy constraint: Member must not be null';
  }
  if (messages[0]?.role !== 'user') {
    return 'A conversation must start with a user message. Try again with a conversation that starts with a user message.';
  }
  const hasTools = messages.some(
    ({ content }) =>
      Array.isArray(content) && content.some((block: ConverseBlock) => block?.toolUse !== undefined || isResult(block)),
  );
  if (hasTools && toolConfig === undefined) {
    return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
  }
  if (more?.thinking?.type === 'enabled' && choiceOf(body) !== 'auto') {
    return `The model returned the following errors: ${forcedWhileThinking}`;
  }
  return (
    invalidNames(body) ??
    messages.map((message, index) => whyInvalidMessage(message, index, messages)).find((why) => why !== undefined) ??
    unthoughtTools(body)
  );
}

const wordPattern = /^[a-zA-Z0-9_-]{1,64}$/;

function invalidNames({ messages, toolConfig }: ConverseBody): string | undefined {
  const declared = (toolConfig?.tools ?? []).flatMap(({ toolSpec }) => toolSpec?.name ?? []);
  const blocks = messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as readonly ConverseBlock[]) : [],
  );
  const uses = blocks.flatMap(({ toolUse }) => toolUse ?? []);
  const words = [...declared, ...uses.flatMap(({ toolUseId, name }) => [toolUseId, name])];
  const odd = words.find((word) => !wordPattern.test(word));
  if (odd !== undefined) {
    return `1 validation error detected: Value '${odd}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`;
  }
  const ids = uses.map(({ toolUseId }) => toolUseId);
  return new Set(ids).size < ids.length ? `messages contains duplicate Ids: ${ids.join(', ')}` : undefined;
}

/**
 * Returns a fault if thinking is on, and the request answers tool calls of a Claude turn that does not begin with its
 * thinking.
 */
function unthoughtTools({ messages, additionalModelRequestFields: more }: ConverseBody): string | undefined {
  if (more?.thinking?.type !== 'enabled') return undefined;
  const last = messages.findLast(({ role }) => role === 'assistant');
  const isUnthought = last?.content.some(({ toolUse }) => toolUse) && last.content[0]?.reasoningContent === undefined;
  return isUnthought
    ? 'The model returned the following errors: messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.'
    : undefined;
}

function whyInvalidMessage(
  message: ConverseMessage,
  index: number,
  messages: readonly ConverseMessage[],
): string | undefined {
  const { role, content } = message;
  if (role === messages[index - 1]?.role) {
    return 'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.';
  }
  if (!Array.isArray(content) || content.length === 0) {
    return `The content field in the ConverseMessage object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`;
  }
  const blocks: readonly ConverseBlock[] = content;
  const blank = blocks.findIndex(({ text }) => text?.trim() === '');
  if (blank >= 0) {
    return `The text field in the ContentBlock object at messages.${index}.content.${blank} is blank. Add text to the text field, and try again.`;
  }
  const forged = blocks.findIndex(isForged);
  if (forged >= 0) {
    return `The model returned the following errors: messages.${index}.content.${forged}: Invalid \`signature\` in \`thinking\` block`;
  }
  const toolUseIds = (messages[index - 1]?.content ?? []).map(({ toolUse }) => toolUse?.toolUseId);
  if (blocks.some(({ toolResult }) => toolResult !== undefined && !toolUseIds.includes(toolResult.toolUseId))) {
    return `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`;
  }
  const next = messages[index + 1];
  const resultIds = (next?.content ?? []).map(({ toolResult }) => toolResult?.toolUseId);
  const open = blocks.flatMap(({ toolUse }) => toolUse?.toolUseId ?? []).filter((id) => !resultIds.includes(id));
  if (open.length === 0 || next === undefined) return undefined;
  return `Expected toolResult blocks at messages.${index + 1}.content for the following Ids: ${open.join(', ')}`;
}

function isForged({ reasoningContent }: ConverseBlock): boolean {
  if (reasoningContent === undefined) return false;
  const { reasoningText, redactedContent } = reasoningContent;
  if (reasoningText === undefined) return redactedContent !== redactedReasoning;
  return reasoningText.signature !== signatureOf(reasoningText.text ?? '');
}

// Refuses requests that the format can express, as real providers do.

interface ConverseHistory {
  readonly messages?: readonly { readonly content?: readonly HistoryBlock[] }[];
  readonly toolConfig?: { readonly tools?: readonly { readonly toolSpec?: HistoryToolSpec }[] } | null;
  readonly additionalModelRequestFields?: { readonly thinking?: { readonly type?: string } | null } | null;
}

interface HistoryToolSpec {
  readonly strict?: boolean | null;
  readonly inputSchema?: { readonly json?: unknown };
}

interface HistoryBlock {
  readonly text?: string;
  readonly document?: { readonly name?: string };
  readonly toolUse?: unknown;
  readonly toolResult?: {
    readonly status?: string;
    readonly content?: readonly { readonly image?: unknown; readonly document?: unknown; readonly text?: string }[];
  };
}

const blocksOfMessages = ({ messages = [] }: ConverseHistory) =>
  messages.map(({ content }) => (Array.isArray(content) ? (content as readonly HistoryBlock[]) : []));

const documentsMax = 5;

export const converseRefusals: readonly ProviderRefusal<ConverseHistory>[] = [
  {
    source: adaptiveThinking,
    why: ({ additionalModelRequestFields: more }, model) => disabledThinking(more?.thinking, model),
  },
  {
    source: 'https://github.com/BerriAI/litellm/pull/39115',
    why: ({ toolConfig }, model) =>
      model.includes('claude')
        ? refusedByClaude(
            (toolConfig?.tools ?? []).flatMap(({ toolSpec }) =>
              toolSpec === undefined ? [] : [{ strict: toolSpec.strict, schema: toolSpec.inputSchema?.json }],
            ),
          )
        : undefined,
  },
  {
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html',
    why(body) {
      const alone = blocksOfMessages(body).findIndex(
        (blocks) => blocks.some(({ document }) => document) && !blocks.some(({ text }) => text !== undefined),
      );
      return alone < 0
        ? undefined
        : `The content block list at messages.${alone} contains a document block, so it must also contain a text block.`;
    },
  },
  {
    source: 'https://github.com/aws-samples/generative-ai-use-cases/issues/1685',
    why(body) {
      const names = blocksOfMessages(body)
        .flat()
        .flatMap(({ document }) => document?.name ?? []);
      return new Set(names).size < names.length ? "Messages can't contain duplicate document names." : undefined;
    },
  },
  {
    source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html',
    why: (body) =>
      blocksOfMessages(body).some((blocks) => blocks.filter(({ document }) => document).length > documentsMax)
        ? `Too many documents in a message. The maximum is ${documentsMax}.`
        : undefined,
  },
  {
    source: 'https://github.com/strands-agents/harness-sdk/issues/1435',
    why(body) {
      const messages = blocksOfMessages(body);
      const at = messages.findIndex((blocks, place) => {
        const toolUses = (messages[place - 1] ?? []).filter(({ toolUse }) => toolUse !== undefined);
        return blocks.filter(({ toolResult }) => toolResult !== undefined).length > toolUses.length;
      });
      return at < 0
        ? undefined
        : `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`;
    },
  },
  {
    source: 'https://github.com/anomalyco/opencode/issues/49443',
    why(body, model) {
      if (/claude|nova/.test(model)) return undefined;
      const results = blocksOfMessages(body).flatMap((blocks) => blocks.flatMap(({ toolResult }) => toolResult ?? []));
      if (results.some(({ status }) => status !== undefined)) {
        return "This model doesn't support the status field in the toolResult block.";
      }
      return results.some(({ content = [] }) => content.some((block) => block.image ?? block.document))
        ? "This model doesn't support the image field for user messages. Remove image and try again."
        : undefined;
    },
  },
];
