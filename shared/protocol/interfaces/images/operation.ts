import {
  arrayOf,
  binary,
  costHeader,
  flag,
  type InterfaceOperation,
  objectSchema,
  passedHeaders,
  text,
} from '../../description/index.ts';

const imageMembers = {
  prompt: { ...text, minLength: 1 },
  n: { type: ['integer', 'null'], minimum: 1, description: 'Images; each is reserved and charged.' },
  size: { type: ['string', 'null'], description: '`1024x1024`, or `auto`.' },
  quality: { type: ['string', 'null'] },
  background: { type: ['string', 'null'] },
  output_format: { type: ['string', 'null'] },
  response_format: { enum: ['url', 'b64_json', null] },
  stream: { ...flag, description: 'Events: partial images, and each image when it is complete.' },
  partial_images: { type: ['integer', 'null'], minimum: 0 },
};
const imagesAnswer = objectSchema({ data: arrayOf({}), usage: { type: 'object' } });

export const operation: InterfaceOperation = {
  operationId: 'createImage',
  summary: 'Images from a text',
  description:
    "OpenAI's images. At providers of the kinds `google`, `vertex` and `bedrock` translated: an option that their models lack is `feature_unsupported`, by name.",
  body: {
    kind: 'vendor',
    members: imageMembers,
    required: ['prompt'],
    example: { model: 'openai/gpt-image-2', prompt: 'A lighthouse at night', size: '1024x1024' },
    answer: imagesAnswer,
    streams: true,
  },
  requestHeaders: passedHeaders,
  answerHeaders: costHeader,
};

export const editOperation: InterfaceOperation = {
  operationId: 'createImageEdit',
  summary: 'Images from images and a text',
  description:
    'As a form (multipart/form-data): `image` or `image[]` are files, fields of the gateway are JSON, or written as `provider[only][]`. In JSON images are references in `images`.',
  body: {
    kind: 'vendor',
    members: { ...imageMembers, images: arrayOf({}) },
    required: ['prompt'],
    example: { model: 'openai/gpt-image-2', prompt: 'Make it night', images: [{ file_id: 'file-1' }] },
    form: { files: { image: binary, 'image[]': arrayOf(binary), mask: binary }, needed: ['image', 'image[]'] },
    answer: imagesAnswer,
    streams: true,
  },
  requestHeaders: passedHeaders,
  answerHeaders: costHeader,
};
