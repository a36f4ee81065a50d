// Counts the tokens of the simulator. A word with the space before it is one token, a long word is one token for every
// 24 characters. The count is deterministic, so that a test can compute the cost of a call.
import type { ModelRequest } from './model-request.ts';

/** OpenAI's count for an image of low detail. */
const tokensPerImage = 85;

/** Returns the tokens of a text. Joined they are the text again. */
export const tokensOf = (text: string): readonly string[] => text.match(/\s*\S{1,24}|\s+$/gu) ?? [];

export const countTokens = (text: string): number => tokensOf(text).length;

export const imagesIn = ({ turns }: ModelRequest): number => turns.reduce((sum, { images = 0 }) => sum + images, 0);

export function promptTokens(request: ModelRequest): number {
  const texts = request.turns.flatMap(({ text, toolArguments = [] }) => [text, ...toolArguments]);
  return texts.reduce((sum, text) => sum + countTokens(text), 0) + imagesIn(request) * tokensPerImage;
}
