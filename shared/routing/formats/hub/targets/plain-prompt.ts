// A prompt for plain chat providers: results are text, other content comes from the user, and thinking is returned
// under its original name.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  type AssistantMessage,
  imagesOfUser,
  instructionsFirst,
  isMarked,
  type ToolMessage,
  type ToolResult,
  type UserMessage,
} from '../../../../protocol/hub/index.ts';
import { packageName } from './plain-thinking.ts';

/** `isStrictTemplate`: many models take instructions at the start only, and one of them. */
export function plainPrompt(prompt: LanguageModelV4Prompt, isStrictTemplate: boolean): LanguageModelV4Prompt {
  const ordered = isStrictTemplate ? oneInstruction(instructionsFirst(prompt)) : resultsFirst(prompt);
  return imagesOfUser(ordered.flatMap(plainMessages));
}

/** Results follow their calls at once: an operator's text in between comes after them. */
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
  const marked = providerOptions === undefined ? {} : { providerOptions };
  return [{ role: 'system', content, ...marked }, ...prompt.filter(({ role }) => role !== 'system')];
}

function plainMessages(message: LanguageModelV4Message): LanguageModelV4Message[] {
  if (message.role === 'tool') return plainResults(message);
  return [message.role === 'assistant' ? withOwnThinking(message) : message];
}

/** Other content of results becomes the user's, after all of them. */
function plainResults({ content }: ToolMessage): LanguageModelV4Message[] {
  const brought: UserMessage['content'] = [];
  const results = content.map((part) => {
    if (part.type !== 'tool-result') return part;
    const { text, files } = readResult(part);
    if (files.length > 0) {
      brought.push({ type: 'text', text: `The result of ${part.toolName} (${part.toolCallId}) also holds:` }, ...files);
    }
    return { ...part, output: { type: 'text', value: text } } as ToolResult;
  });
  const said: LanguageModelV4Message[] = [{ role: 'tool', content: results }];
  return brought.length === 0 ? said : [...said, { role: 'user', content: brought }];
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
  // There is no other word for it.
  return { text: output.type.startsWith('error') ? `The tool failed: ${text}` : text, files: [] };
}

/** Only this model's own thinking is left, with the name of its original field. */
function withOwnThinking(message: AssistantMessage): LanguageModelV4Message {
  const thoughts = message.content.filter((part) => part.type === 'reasoning');
  if (thoughts.length === 0) return message;
  const name = thoughts[0]?.providerOptions?.[packageName]?.reasoningMember;
  const member = name === 'reasoning' ? name : 'reasoning_content';
  const text = thoughts.map((part) => part.text).join('');
  return {
    ...message,
    content: message.content.filter(({ type }) => type !== 'reasoning'),
    ...(text === '' ? {} : { providerOptions: { ...message.providerOptions, openaiCompatible: { [member]: text } } }),
  };
}
