// Tokens of the simulator: a word with the space before it is one token, a long word one for every 24 characters.
// Deterministic, so that a test can compute what a call must cost.
import type { ChatRequest, Message } from './call.ts';

/** What OpenAI counts for an image of low detail. */
const tokensPerImage = 85;

/** The tokens of a text. Joined they are the text again. */
export const tokensOf = (text: string): readonly string[] => text.match(/\s*\S{1,24}|\s+$/gu) ?? [];

export const countTokens = (text: string): number => tokensOf(text).length;

/** The text of a message, parts joined. */
export function textOf(message: Message): string {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? []).map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join(' ');
}

export const imagesIn = (request: ChatRequest): number =>
  request.messages
    .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
    .filter((part) => part.type === 'image_url').length;

export function promptTokens(request: ChatRequest): number {
  const texts = request.messages.map((message) => {
    const toolCalls = (message.tool_calls ?? []).map((toolCall) => countTokens(toolCall.function?.arguments ?? ''));
    return toolCalls.reduce((sum, tokens) => sum + tokens, countTokens(textOf(message)));
  });
  return texts.reduce((sum, tokens) => sum + tokens, 0) + imagesIn(request) * tokensPerImage;
}
