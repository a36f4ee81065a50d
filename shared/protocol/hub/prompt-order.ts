// Prompts for targets that are strict about order.
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { ToolMessage, UserMessage } from './hub-call.ts';

/**
 * Instructions at the start are the system prompt; later ones become text of the user, for targets that do not allow
 * them elsewhere, and follow the results of the calls before them, which must come at once.
 */
export function instructionsFirst(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const start = prompt.findIndex(({ role }) => role !== 'system');
  // Every target wants a message of the user.
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

/** First message where there is no other. */
const beginning: LanguageModelV4Message = {
  role: 'user',
  content: [{ type: 'text', text: '(The conversation begins with an answer.)' }],
};

/** Who takes instructions at the start only wants the user to begin, too. */
function begunByUser(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const start = prompt.findIndex(({ role }) => role !== 'system');
  return start < 0 || prompt[start]?.role === 'user' ? prompt : prompt.toSpliced(start, 0, beginning);
}

function toUser({
  content,
  providerOptions,
}: Extract<LanguageModelV4Message, { role: 'system' }>): LanguageModelV4Message {
  const marked = providerOptions === undefined ? {} : { providerOptions };
  return { role: 'user', content: [{ type: 'text', text: content, ...marked }] };
}

/**
 * Results that follow each other are one message: some targets want all that belong to one answer together. Every message of
 * results in this prompt was added here, so that the last one may grow.
 */
export function addResults(prompt: LanguageModelV4Prompt, { content, ...message }: ToolMessage): void {
  const last = prompt.at(-1);
  if (last?.role !== 'tool') prompt.push({ ...message, content: [...content] });
  else for (const result of content) last.content.push(result);
}

/**
 * Images of an answer, for targets that accept only the user's: they are put at the start of the next message. After
 * the user's last message there is none, and nothing is asked about them.
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
