// Writes a prompt for plain chat providers. Results are text, other content comes from the user, and thinking is
// returned under its original name.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  type AssistantMessage,
  imagesOfUser,
  isMarked,
  putInstructionsFirst,
  type ToolMessage,
  type ToolResult,
  type UserMessage,
} from '../../../../protocol/hub/index.ts';
import { packageName } from './plain-thinking.ts';

/**
 * Converts the prompt. `isStrictTemplate` is set for models that accept only one instruction, and only at the start.
 * `hasThinkingParts` means that the model's own thinking is part of the content.
 */
export function plainPrompt(
  prompt: LanguageModelV4Prompt,
  isStrictTemplate: boolean,
  hasThinkingParts = false,
): LanguageModelV4Prompt {
  const ordered = isStrictTemplate ? oneInstruction(putInstructionsFirst(prompt)) : resultsFirst(prompt);
  return imagesOfUser(
    ordered.flatMap((message) => {
      if (message.role === 'tool') return plainResults(message);
      return [message.role === 'assistant' ? withOwnThinking(message, hasThinkingParts) : message];
    }),
  );
}

/** Moves results directly after their calls. An operator's text between call and result comes after the results. */
function resultsFirst(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const ordered: LanguageModelV4Message[] = [];
  let waiting: LanguageModelV4Message[] = [];
  for (const message of prompt) {
    if (message.role === 'system') waiting.push(message);
    else if (message.role === 'tool') ordered.push(message);
    else {
      ordered.push(...waiting, message);
      waiting = [];
    }
  }
  return [...ordered, ...waiting];
}

function oneInstruction(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const instructions = prompt.filter((message) => message.role === 'system');
  if (instructions.length < 2) return prompt;
  const content = instructions.map((message) => message.content).join('\n\n');
  const { providerOptions } = instructions.findLast(isMarked) ?? {};
  const optionsField = providerOptions === undefined ? {} : { providerOptions };
  return [{ role: 'system', content, ...optionsField }, ...prompt.filter(({ role }) => role !== 'system')];
}

/** Moves other content of results to a message of the user after all results. */
export function plainResults({ content }: ToolMessage): LanguageModelV4Message[] {
  const movedParts: UserMessage['content'] = [];
  const results = content.map((part) => {
    if (part.type !== 'tool-result') return part;
    const { text, files } = readResult(part);
    if (files.length > 0) {
      movedParts.push(
        { type: 'text', text: `The result of ${part.toolName} (${part.toolCallId}) also holds:` },
        ...files,
      );
    }
    return { ...part, output: { type: 'text', value: text } } as ToolResult;
  });
  const messages: LanguageModelV4Message[] = [{ role: 'tool', content: results }];
  return movedParts.length === 0 ? messages : [...messages, { role: 'user', content: movedParts }];
}

type File = Extract<UserMessage['content'][number], { type: 'file' }>;

function readResult({ output }: ToolResult): { readonly text: string; readonly files: readonly File[] } {
  if (output.type === 'content') {
    const texts = output.value.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const files = output.value.flatMap((part): File[] => (part.type === 'file' ? [part] : []));
    return { text: texts.join('\n'), files };
  }
  if (output.type === 'execution-denied') return { text: output.reason ?? 'The call was denied.', files: [] };
  const text = typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
  // The format cannot express a failure in another way.
  return { text: output.type.startsWith('error') ? failedText(text) : text, files: [] };
}

const failedText = (text: string): string => (text.trim() === '' ? 'The tool failed.' : `The tool failed: ${text}`);

/** Writes failed results as texts, for targets without a field for failures. */
export const withFailuresInWords = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.map((message) => {
    if (message.role !== 'tool') return message;
    const content = message.content.map((part): typeof part => {
      if (part.type !== 'tool-result' || part.output.type !== 'error-text') return part;
      return { ...part, output: { type: 'text', value: failedText(part.output.value) } };
    });
    return { ...message, content };
  });

/** Returns the message with only this model's own thinking, under the name of its original field. */
function withOwnThinking(message: AssistantMessage, hasThinkingParts: boolean): LanguageModelV4Message {
  const thoughts = message.content.filter((part) => part.type === 'reasoning');
  if (thoughts.length === 0) return message;
  const name = thoughts[0]?.providerOptions?.[packageName]?.reasoningMember;
  const text = thoughts.map((part) => part.text).join('');
  const isInParts = hasThinkingParts || name === 'thinking';
  const fields = isInParts
    ? { content: [thinkingPart(text), ...message.content.filter((part) => part.type === 'text').map(plainText)] }
    : { [name === 'reasoning' ? name : 'reasoning_content']: text };
  return {
    ...message,
    content: message.content.filter(({ type }) => type !== 'reasoning'),
    ...(text === '' ? {} : { providerOptions: { ...message.providerOptions, openaiCompatible: fields } }),
  };
}

const thinkingPart = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
const plainText = ({ text }: { readonly text: string }) => ({ type: 'text', text });
