// How many tokens the media of a request may take. The bytes of an image say nothing about them, so a documented bound
// does: it decides what is held, and what is billed where a provider reports no usage.
import { imageSize } from 'image-size';
import { isJsonObject } from '../../wire/index.ts';
import type { ChatMembers } from './chat-request.ts';

/**
 * The most that an image takes in any model known in November 2026 (the prices of gpt-4o-mini: 2,833 tokens, and 5,667
 * for each tile of 512 px at high detail). Other models take a few hundred to five thousand.
 */
const tokensPerImage = 2_833;
const tokensPerTile = 5_667;
const tilePx = 512;
/** A detailed image is scaled to fit 2,048 px, and its shorter side to 768 px: eight tiles at most. */
const longSideMaxPx = 2_048;
const shortSideMaxPx = 768;
const tilesMax = 8;

/** What of an image is looked at for its size: the headers of every common format are within. */
const headerCharactersMax = 256 * 1024;

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
  if (typeof url !== 'string') return undefined;
  const dataCharacters = url.startsWith('data:') ? url.length : 0;
  const tiles = detail === 'low' ? 0 : (tilesOf(url) ?? tilesMax);
  return { tokens: tokensPerImage + tokensPerTile * tiles, dataCharacters };
}

/** Undefined: the size of the image is not known. */
function tilesOf(url: string): number | undefined {
  const [, base64] = /^data:image\/[\w.+-]+;base64,/i.exec(url) === null ? [] : url.split(',', 2);
  if (base64 === undefined) return undefined;
  try {
    const { width, height } = imageSize(Buffer.from(base64.slice(0, headerCharactersMax), 'base64'));
    const fit = Math.min(1, longSideMaxPx / Math.max(width, height));
    const scale = Math.min(fit, shortSideMaxPx / Math.min(width, height));
    return Math.min(tilesMax, Math.ceil((width * scale) / tilePx) * Math.ceil((height * scale) / tilePx));
  } catch {
    return undefined;
  }
}
