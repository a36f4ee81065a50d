// Bounds the tokens of the media of a request. The bytes of an image do not determine its tokens, so a documented bound
// does. The bound determines the reservation, and the charge if a provider reports no usage.
import { openPixelReader, type Pixels } from '../wire/index.ts';

/**
 * Most tokens of an image in any model known in November 2026 (from the prices of gpt-4o-mini: 2,833 tokens, and 5,667
 * for each tile of 512 px at high detail). Other models use a few hundred to five thousand tokens for an image,
 * whatever detail is requested.
 */
const tokensPerImage = 2_833;
const tokensOfOtherModels = 5_000;
const tokensPerTile = 5_667;
const tilePx = 512;
/**
 * Longest side of a detailed image. The image is scaled to fit 2,048 px, and its shorter side to 768 px, which makes
 * eight tiles at most.
 */
const longSideMaxPx = 2_048;
const shortSideMaxPx = 768;
const tilesMax = 8;

export interface Media {
  /** The most tokens of images; undefined for media that only the context bounds (audio, files, other kinds). */
  readonly tokens: number | undefined;
  /** Characters of data that is written as text, but is none. */
  readonly dataCharacters: number;
  /** True for media at a URL. A provider that accepts media of any kind may find a video at the URL. */
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

interface ImageSource {
  /** URL of a picture, or its bytes as a data URL. */
  readonly url: string;
  readonly detail: unknown;
}

/** Opens a measure for the images of one request. */
export function openImageMeasure(): (image: ImageSource) => Media {
  const pixelsOf = openPixelReader();
  return (image) => measureImage(image, pixelsOf);
}

type PixelReader = ReturnType<typeof openPixelReader>;

function measureImage({ url, detail }: ImageSource, pixelsOf: PixelReader): Media {
  const isElsewhere = !dataUrl.test(url);
  const dataCharacters = isElsewhere ? 0 : url.length;
  // A URL in the place of an image may lead to a video.
  if (!isElsewhere && !imageUrl.test(url)) return { tokens: undefined, dataCharacters, isElsewhere };
  const tiles = detail === 'low' ? 0 : (tilesOf(url, pixelsOf) ?? tilesMax);
  const tokens = Math.max(tokensPerImage + tokensPerTile * tiles, tokensOfOtherModels);
  return { tokens, dataCharacters, isElsewhere };
}

const dataUrl = /^data:/i;
const imageUrl = /^data:image\//i;

/** Returns undefined when the size of the image is unknown. */
function tilesOf(url: string, pixelsOf: PixelReader): number | undefined {
  const [head] = /^data:image\/[\w.+-]+;base64,/i.exec(url) ?? [];
  const pixels = head === undefined ? undefined : pixelsOf(url.slice(head.length));
  return pixels === undefined ? undefined : tilesIn(pixels);
}

function tilesIn({ width, height }: Pixels): number {
  const fit = Math.min(1, longSideMaxPx / Math.max(width, height));
  const scale = Math.min(fit, shortSideMaxPx / Math.min(width, height));
  return Math.min(tilesMax, Math.ceil((width * scale) / tilePx) * Math.ceil((height * scale) / tilePx));
}
