// What the media of a request take of a model's context at most. The bytes of an image say nothing about that, so a documented
// bound does: it decides what is held, and what is billed where a provider reports no usage.
import { pixelsOf } from './image-pixels.ts';

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

export interface Media {
  /** Of images, at most. Undefined: media that only the context bounds (audio, files, other kinds). */
  readonly tokens: number | undefined;
  /** Characters of bytes that are written as text, and are none. */
  readonly dataCharacters: number;
  /** Its bytes are elsewhere: a provider that takes media of any kind may find a film there. */
  readonly isElsewhere: boolean;
}

export const boundedByContext: Media = { tokens: undefined, dataCharacters: 0, isElsewhere: false };

export function sumOfMedia(all: Iterable<Media>): Media {
  let tokens: number | undefined = 0;
  let characters = 0;
  let isElsewhere = false;
  for (const media of all) {
    isElsewhere ||= media.isElsewhere;
    tokens = tokens === undefined || media.tokens === undefined ? undefined : tokens + media.tokens;
    characters += media.dataCharacters;
  }
  return { tokens, dataCharacters: characters, isElsewhere };
}

export interface ImageSource {
  /** Of a picture, or its bytes as a data URL. */
  readonly url: string;
  readonly detail: unknown;
}

export function measureImage({ url, detail }: ImageSource): Media {
  const isElsewhere = !dataUrl.test(url);
  const dataCharacters = isElsewhere ? 0 : url.length;
  // In the place of an image there may be a film.
  if (!isElsewhere && !imageUrl.test(url)) return { tokens: undefined, dataCharacters, isElsewhere };
  const tiles = detail === 'low' ? 0 : (tilesOf(url) ?? tilesMax);
  return { tokens: tokensPerImage + tokensPerTile * tiles, dataCharacters, isElsewhere };
}

const dataUrl = /^data:/i;
const imageUrl = /^data:image\//i;

/** Undefined: the size of the image is not known. */
function tilesOf(url: string): number | undefined {
  const [, base64] = /^data:image\/[\w.+-]+;base64,/i.exec(url) === null ? [] : url.split(',', 2);
  const pixels = base64 === undefined ? undefined : pixelsOf(base64);
  if (pixels === undefined) return undefined;
  const { width, height } = pixels;
  const fit = Math.min(1, longSideMaxPx / Math.max(width, height));
  const scale = Math.min(fit, shortSideMaxPx / Math.min(width, height));
  return Math.min(tilesMax, Math.ceil((width * scale) / tilePx) * Math.ceil((height * scale) / tilePx));
}
