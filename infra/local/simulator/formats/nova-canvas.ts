// The images of Nova Canvas: from a text, or as a variation of images.
import type { SimulatedCompletion } from '../answer.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { pngOf } from '../png.ts';

interface CanvasBody {
  readonly taskType: 'TEXT_IMAGE' | 'IMAGE_VARIATION';
  readonly textToImageParams?: { readonly text?: string };
  readonly imageVariationParams?: { readonly text?: string; readonly images?: readonly string[] };
  readonly imageGenerationConfig?: { readonly numberOfImages?: number; readonly quality?: string };
}

const imagesMax = 5;
const promptMaxCharacters = 1_024;

export const isCanvas = (body: unknown): body is CanvasBody => {
  const { taskType } = (body ?? {}) as Partial<CanvasBody>;
  return taskType === 'TEXT_IMAGE' || taskType === 'IMAGE_VARIATION';
};

const promptOf = ({ textToImageParams, imageVariationParams }: CanvasBody): string =>
  (textToImageParams ?? imageVariationParams)?.text ?? '';

export function readCanvas(model: string, body: CanvasBody): ModelRequest | string {
  const text = promptOf(body);
  const { numberOfImages = 1, quality = 'standard' } = body.imageGenerationConfig ?? {};
  const images = body.imageVariationParams?.images?.length ?? 1;
  const isGood =
    text !== '' &&
    text.length <= promptMaxCharacters &&
    numberOfImages <= imagesMax &&
    images >= 1 &&
    images <= imagesMax &&
    ['standard', 'premium'].includes(quality);
  if (!isGood) return 'Malformed input request, please reformat your input and try again.';
  return { ...plainRequest, model, choiceCount: numberOfImages, turns: [{ role: 'user', text }] };
}

export const canvasJson = (body: CanvasBody, { choices }: SimulatedCompletion): object => ({
  images: choices.map((_choice, at) => pngOf(`${promptOf(body)} ${at}`).toString('base64')),
});
