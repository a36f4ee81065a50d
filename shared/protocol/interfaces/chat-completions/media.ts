// How many tokens the media of a request may take. The bytes of an image say nothing about them, so a documented bound
// does: it decides what is held, and what is billed where a provider reports no usage.

import { isJsonObject } from '../../wire/index.ts';
import { measureImage } from '../index.ts';
import type { ChatMembers } from './chat-request.ts';

export interface Media {
  /** Tokens of the images at most. Undefined: media that only the context bounds (audio, files, other kinds). */
  readonly tokens: number | undefined;
  /** Characters of data URLs, which are no text. */
  readonly dataCharacters: number;
}

export function mediaOf({ raw }: Pick<ChatMembers, 'raw'>): Media {
  let tokens: number | undefined = 0;
  let dataCharacters = 0;
  for (const message of Array.isArray(raw.messages) ? raw.messages : []) {
    if (!isJsonObject(message)) continue;
    // An assistant message that refers to its audio brings it into the context again.
    if (isJsonObject(message.audio)) tokens = undefined;
    for (const part of Array.isArray(message.content) ? message.content : []) {
      if (isTextPart(part)) continue;
      const image = imageOf(part);
      if (image === undefined) tokens = undefined;
      else {
        dataCharacters += image.dataCharacters;
        if (tokens !== undefined) tokens += image.tokens;
      }
    }
  }
  return { tokens, dataCharacters };
}

const isTextPart = (part: unknown): boolean => isJsonObject(part) && (part.type === 'text' || part.type === 'refusal');

function imageOf(part: unknown): { readonly tokens: number; readonly dataCharacters: number } | undefined {
  if (!isJsonObject(part) || part.type !== 'image_url') return undefined;
  const { url, detail } = isJsonObject(part.image_url) ? part.image_url : { url: part.image_url, detail: undefined };
  return typeof url === 'string' ? measureImage({ url, detail }) : undefined;
}
