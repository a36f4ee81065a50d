// Changes of a prompt that other formats accept and Converse refuses.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type {
  AssistantMessage,
  ToolOutput,
  ToolPart,
  ToolResult,
  UserMessage,
} from '../../../../protocol/hub/index.ts';
import { isJsonObject } from '../../../../protocol/wire/index.ts';
import type { TargetRules } from '../../target-rules/index.ts';
import { plainResults } from './plain-prompt.ts';

/**
 * Converts calls to text, because Converse refuses calls in a request without tools, and the package would drop the
 * calls.
 */
export const callsAsText = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.flatMap((message): LanguageModelV4Message[] => {
    if (message.role === 'assistant') return [callTexts(message)];
    return message.role === 'tool' ? message.content.flatMap(resultText) : [message];
  });

function callTexts(message: AssistantMessage): AssistantMessage {
  if (!message.content.some(({ type }) => type === 'tool-call')) return message;
  // Thinking before a call belongs to the call, not to text about the call.
  const content = message.content.flatMap((part): AssistantMessage['content'] => {
    if (part.type === 'reasoning') return [];
    if (part.type !== 'tool-call') return [part];
    return [{ type: 'text', text: `[Called the tool ${part.toolName} with ${JSON.stringify(part.input)}]` }];
  });
  return { ...message, content };
}

function resultText(result: ToolPart): LanguageModelV4Message[] {
  if (result.type !== 'tool-result') return [];
  const head = { type: 'text', text: `[The tool ${result.toolName} answered]` } as const;
  return [{ role: 'user', content: [head, ...partsOf(result.output)] }];
}

function partsOf(output: ToolOutput): UserMessage['content'] {
  if (output.type === 'text' || output.type === 'error-text') {
    return output.value === '' ? [] : [{ type: 'text', text: output.value }];
  }
  if (output.type !== 'content') return [];
  return output.value.filter((part) => part.type === 'text' || part.type === 'file');
}

/** Moves files next to the results, and writes failures as text, for families that accept neither inside. */
export const ruledResults = (prompt: LanguageModelV4Prompt, rules: TargetRules): LanguageModelV4Prompt =>
  rules.acceptsFilesInResults && rules.hasFailureFlag
    ? prompt
    : prompt.flatMap((message) => (message.role === 'tool' ? plainResults(message) : [message]));

/** Adds text to results, because Converse refuses a result without text. */
export const withResultTexts = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.map((message) => {
    if (message.role !== 'tool') return message;
    return {
      ...message,
      content: message.content.map((part) =>
        isEmpty(part) ? { ...part, output: { ...part.output, value: noOutput } } : part,
      ) as ToolPart[],
    };
  });

const noOutput = '(no output)';

const isEmpty = (part: ToolPart): part is ToolResult =>
  part.type === 'tool-result' &&
  (part.output.type === 'text' || part.output.type === 'error-text') &&
  part.output.value.trim() === '';

type FilePart = Extract<UserMessage['content'][number], { type: 'file' }>;

const isDocument = (part: { readonly type: string; readonly mediaType?: string }): boolean =>
  part.type === 'file' && part.mediaType?.startsWith('image/') !== true;

const documentText = { type: 'text', text: 'The document is attached.' } as const;
const documentNameMaxCharacters = 180;

/** Returns the allowed characters of a name, without its extension, so two files may get the same name. */
const plainName = (filename: string): string =>
  filename
    .replace(/\.[^.]*$/, '')
    .replaceAll(/[^a-zA-Z0-9 ()[\]-]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, documentNameMaxCharacters)
    .trim();

/**
 * Adds a text together with a document, and unique names of documents in the whole conversation, both of which Converse
 * requires.
 */
export function withDocuments(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const counts = new Map<string, number>();
  const withFileName = <
    Part extends { readonly type: string; readonly mediaType?: string; readonly filename?: string },
  >(
    part: Part,
  ): Part => {
    if (!isDocument(part)) return part;
    const name = plainName(part.filename ?? '') || 'document';
    const key = name.toLowerCase();
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    // The package drops the part after the last dot.
    const distinctName = count === 1 && !/ \(\d+\)$/.test(name) ? name : `${name} (${count})`;
    return { ...part, filename: `${distinctName}.file` };
  };
  return prompt.map((message) => {
    if (message.role === 'tool')
      return { ...message, content: message.content.map((part) => withNames(part, withFileName)) };
    if (message.role !== 'user' || !message.content.some(isDocument)) return message;
    const content = message.content.map((part) => withFileName(part as FilePart));
    const hasText = message.content.some(({ type }) => type === 'text');
    return { ...message, content: hasText ? content : [...content, documentText] };
  });
}

function withNames(part: ToolPart, named: (part: FilePart) => FilePart): ToolPart {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  const value = part.output.value.map((one) => (one.type === 'file' ? named(one as FilePart) : one));
  return { ...part, output: { ...part.output, value: value as typeof part.output.value } };
}

/** Returns the ids of calls that failed, because the package cannot express a failure. */
export const failedCalls = (prompt: LanguageModelV4Prompt): ReadonlySet<string> =>
  new Set(
    prompt.flatMap(({ role, content }) =>
      role !== 'tool'
        ? []
        : content.flatMap((part) =>
            part.type === 'tool-result' && part.output.type.startsWith('error') ? [part.toolCallId] : [],
          ),
    ),
  );

/** Returns the messages of a body, with the status of failed results. */
export function withFailures(messages: unknown, failed: ReadonlySet<string>): unknown {
  return Array.isArray(messages) ? messages.map((message) => withFailedResults(message, failed)) : messages;
}

function withFailedResults(message: unknown, failed: ReadonlySet<string>): unknown {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return message;
  const content = message.content.map((block: unknown) => {
    const result = isJsonObject(block) ? block.toolResult : undefined;
    if (!isJsonObject(result) || !failed.has(String(result.toolUseId))) return block;
    return { toolResult: { ...result, status: 'error' } };
  });
  return { ...message, content };
}
