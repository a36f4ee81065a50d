// The media of a chat-completions request.
import { isJsonObject } from '../../wire/index.ts';
import { boundedByContext, type Media, measureImage, sumOfMedia } from '../index.ts';
import type { ChatMembers } from './chat-request.ts';

export const mediaOf = ({ raw }: Pick<ChatMembers, 'raw'>): Media => sumOfMedia(mediaIn(raw.messages));

function* mediaIn(messages: unknown): Generator<Media> {
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    // An assistant message that refers to its audio brings it into the context again.
    if (isJsonObject(message.audio)) yield boundedByContext;
    for (const part of Array.isArray(message.content) ? message.content : []) {
      if (!isTextPart(part)) yield imageOf(part) ?? boundedByContext;
    }
  }
}

const isTextPart = (part: unknown): boolean => isJsonObject(part) && (part.type === 'text' || part.type === 'refusal');

function imageOf(part: unknown): Media | undefined {
  if (!isJsonObject(part) || part.type !== 'image_url') return undefined;
  const { url, detail } = isJsonObject(part.image_url) ? part.image_url : { url: part.image_url, detail: undefined };
  return typeof url === 'string' ? measureImage({ url, detail }) : undefined;
}
