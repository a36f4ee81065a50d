// Does a prompt fit? Only the provider's tokenizer knows. So no candidate is refused here: one that most likely
// cannot hold the prompt is asked last, and a prompt that none can hold gets the providers' own answer.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { type ChatRequest, isJsonObject } from '../../protocol/wire/index.ts';

/** Today's tokenizers take three to five bytes of prose or code into a token: beyond this a prompt hardly ever fits. */
const bytesPerToken = 5;

/** Bytes of text in the messages. Images and audio are counted by other rules, so their bytes say nothing. */
export function promptTextBytes({ raw }: ChatRequest): number {
  const messages = Array.isArray(raw.messages) ? raw.messages : [];
  return messages.reduce<number>(
    (sum, message) => sum + (isJsonObject(message) ? contentBytes(message.content) : 0),
    0,
  );
}

function contentBytes(content: unknown): number {
  if (!Array.isArray(content)) return textBytes(content);
  return content.reduce<number>((sum, part) => sum + (isJsonObject(part) ? textBytes(part.text) : 0), 0);
}

const textBytes = (text: unknown): number => (typeof text === 'string' ? Buffer.byteLength(text) : 0);

export const probablyFits = ({ entry }: Candidate, promptBytes: number): boolean =>
  promptBytes <= entry.context_length * bytesPerToken;
