// What Converse refuses in a prompt that other formats take.
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { AssistantMessage, ToolOutput, ToolPart, ToolResult, UserMessage } from '../middle/index.ts';

type Message = LanguageModelV4Prompt[number];

/** It refuses calls where no tool goes out with them, and the package would leave them out: they are told as text. */
export const callsAsText = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.flatMap((message): Message[] => {
    if (message.role === 'assistant') return [toldCalls(message)];
    return message.role === 'tool' ? message.content.flatMap(toldResult) : [message];
  });

function toldCalls(message: AssistantMessage): AssistantMessage {
  if (!message.content.some(({ type }) => type === 'tool-call')) return message;
  // What led to a call belongs to the call, not to a text about it.
  const content = message.content.flatMap((part): AssistantMessage['content'] => {
    if (part.type === 'reasoning') return [];
    if (part.type !== 'tool-call') return [part];
    return [{ type: 'text', text: `[Called the tool ${part.toolName} with ${JSON.stringify(part.input)}]` }];
  });
  return { ...message, content };
}

function toldResult(result: ToolPart): Message[] {
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

/** It refuses a result without a word. */
export const withResultTexts = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.map((message) => {
    if (message.role !== 'tool') return message;
    return {
      ...message,
      content: message.content.map((part) => (isEmpty(part) ? { ...part, output: noOutput } : part)),
    };
  });

const noOutput = { type: 'text', value: '(no output)' } as const;

const isEmpty = (part: ToolPart): part is ToolResult =>
  part.type === 'tool-result' && part.output.type === 'text' && part.output.value === '';
