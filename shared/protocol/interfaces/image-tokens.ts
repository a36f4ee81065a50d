// What an image takes of a model's context at most.
import { imageSize } from 'image-size';

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

export interface ImageSource {
  /** Of a picture, or its bytes as a data URL. */
  readonly url: string;
  readonly detail: unknown;
}

/** `dataCharacters`: of a data URL, which is no text. */
export function measureImage({ url, detail }: ImageSource): {
  readonly tokens: number;
  readonly dataCharacters: number;
} {
  const tiles = detail === 'low' ? 0 : (tilesOf(url) ?? tilesMax);
  return { tokens: tokensPerImage + tokensPerTile * tiles, dataCharacters: url.startsWith('data:') ? url.length : 0 };
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
