// Gemini's image models, called by generateContent.
import { createGoogle } from '@ai-sdk/google';
import type { ImageTarget } from './hub-target.ts';

export const geminiImages: ImageTarget = {
  imagesMax: 1,
  // The package writes the folder itself.
  openModel: ({ model, ...settings }) => createGoogle(settings).image(model.replace(/^models\//, '')),
  toOptions: ({ size }) => ({
    size: undefined,
    // The planner passes it over for any other size.
    aspectRatio: size === undefined ? undefined : '1:1',
    providerOptions: {},
  }),
};
