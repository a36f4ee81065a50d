// Nova Canvas, called by InvokeModel.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import type { ImageTarget } from './hub-target.ts';

export const bedrockImages: ImageTarget = {
  imagesMax: 5,
  // A key keeps it from signing.
  openModel: ({ model, ...settings }) => createAmazonBedrock({ ...settings, region: 'none' }).image(model),
  toOptions: ({ size, quality }) => ({
    size: size as `${number}x${number}` | undefined,
    aspectRatio: undefined,
    providerOptions: quality === undefined ? {} : { amazonBedrock: { quality } },
  }),
};
