// Reorders prompts for targets that are strict about the sequence of messages.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ToolMessage, ToolOutput, UserMessage } from './hub-call.ts';

/**
 * Makes instructions at the start the system prompt. For targets that allow instructions only at the start, later
 * instructions become text of the user. They follow the results of the calls before them, because results must come
 * first.
 */
export function putInstructionsFirst(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const start = prompt.findIndex(({ role }) => role !== 'system');
  // Every target requires a message of the user.
  const ordered: LanguageModelV4Prompt = start < 0 ? [] : prompt.slice(0, start);
  let waiting: LanguageModelV4Message[] = [];
  for (const message of prompt.slice(ordered.length)) {
    if (message.role === 'system') {
      waiting.push(toUser(message));
      continue;
    }
    if (message.role === 'tool') {
      addResults(ordered, message);
      continue;
    }
    ordered.push(...waiting, message);
    waiting = [];
  }
  return begunByUser([...ordered, ...waiting]);
}

/** First message if the client sent no other. */
const beginning: LanguageModelV4Message = {
  role: 'user',
  content: [{ type: 'text', text: '(The conversation begins with an answer.)' }],
};

/**
 * Adds a first message of the user, because targets that accept instructions only at the start also require the user to
 * begin.
 */
function begunByUser(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const start = prompt.findIndex(({ role }) => role !== 'system');
  return start < 0 || prompt[start]?.role === 'user' ? prompt : prompt.toSpliced(start, 0, beginning);
}

function toUser({
  content,
  providerOptions,
}: Extract<LanguageModelV4Message, { role: 'system' }>): LanguageModelV4Message {
  const optionsField = providerOptions === undefined ? {} : { providerOptions };
  return { role: 'user', content: [{ type: 'text', text: content, ...optionsField }] };
}

/**
 * Adds results of calls. Consecutive results are one message, because some targets require all results of one answer
 * together. This function added every message of results in this prompt, so the last message may be extended.
 */
export function addResults(prompt: LanguageModelV4Prompt, { content, ...message }: ToolMessage): void {
  const last = prompt.at(-1);
  if (last?.role !== 'tool') prompt.push({ ...message, content: [...content] });
  else for (const result of content) last.content.push(result);
}

const noResult: ToolOutput = { type: 'text', value: 'This call has no result: it was not run.' };

/**
 * Adds missing results, because every target refuses a call without a result, and a client that was interrupted has no
 * result.
 */
export function withEveryResult(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const resultIds = new Set<string>();
  for (const { role, content } of prompt) {
    if (role === 'tool') for (const part of content) if (part.type === 'tool-result') resultIds.add(part.toolCallId);
  }
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role !== 'assistant') return [message];
    const content = message.content.flatMap((part): ToolMessage['content'] =>
      part.type !== 'tool-call' || part.providerExecuted === true || resultIds.has(part.toolCallId)
        ? []
        : [{ type: 'tool-result', toolCallId: part.toolCallId, toolName: part.toolName, output: noResult }],
    );
    return content.length === 0 ? [message] : [message, { role: 'tool', content }];
  });
}

/**
 * Moves images of an answer, for targets that accept only images of the user, to the start of the next message. Images
 * after the user's last message are dropped, because nothing is asked about them.
 */
export function imagesOfUser(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  let waiting: UserMessage['content'] = [];
  return prompt.flatMap((message): LanguageModelV4Message[] => {
    if (message.role === 'assistant') {
      for (const part of message.content) if (part.type === 'file') waiting.push(part);
      const content = message.content.filter((part) => part.type !== 'file');
      return content.length === 0 ? [] : [{ ...message, content }];
    }
    if (message.role !== 'user' || waiting.length === 0) return [message];
    const content = [...waiting, ...message.content];
    waiting = [];
    return [{ ...message, content }];
  });
}
