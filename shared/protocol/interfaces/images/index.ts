// The interfaces of images: from a text, and from images with a text.
import { largeBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { relayedInterface } from '../index.ts';
import { openImageReader, openImageWriter } from './image-events.ts';
import { readImagesAnswer, writeImages } from './images-answer.ts';
import { imageFormFields, imageOptions, imagesSchema, readEdit, readGeneration } from './images-request.ts';

export { imageItems } from './images-answer.ts';
export { imageFormFields, imageOptions, imagesSchema } from './images-request.ts';

const common = {
  schema: imagesSchema,
  uncheckedNames: imageOptions,
  promptMember: 'prompt',
  readAnswer: readImagesAnswer,
  writeAnswer: writeImages,
  answerMaxBytes: largeBodyMaxBytes,
  streams: { openEventReader: openImageReader, openStreamWriter: openImageWriter },
} as const;

export const images = relayedInterface({
  ...common,
  id: 'images',
  upstreamPath: '/images/generations',
  readInput: readGeneration,
});

export const imageEdits = relayedInterface({
  ...common,
  id: 'image-edits',
  upstreamPath: '/images/edits',
  readInput: readEdit,
  formFields: imageFormFields,
});
