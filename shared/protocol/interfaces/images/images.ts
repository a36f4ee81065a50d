// The interfaces of images: from a text, and from images with a text.
import { largeBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { relayedInterface } from '../index.ts';
import { openImageReader, openImageWriter } from './image-events.ts';
import { readImagesAnswer, writeImages } from './images-answer.ts';
import { imageFormFields, imageOptions, imagesSchema, readEdit, readGeneration } from './images-request.ts';

const common = {
  telemetryOperation: 'generate_content',
  packageModels: 'image',
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
  takesLong: true,
  readInput: readGeneration,
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
});

export const imageEdits = relayedInterface({
  ...common,
  id: 'image-edits',
  upstreamPath: '/images/edits',
  takesLong: true,
  readInput: readEdit,
  grammar: async () => (await import('./grammar.ts')).editGrammar,
  operation: async () => (await import('./operation.ts')).editOperation,
  playground: undefined,
  formFields: imageFormFields,
});
