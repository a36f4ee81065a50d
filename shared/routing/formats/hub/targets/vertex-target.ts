// Embeddings of Vertex, called by predict and embedContent. Its chat models are called as Gemini's, by `generate-content`.
import { createGoogleVertex } from '@ai-sdk/google-vertex/edge';
import type { HubTarget } from '../middle/index.ts';
import { target as generateContent } from './generate-content-target.ts';

/** Texts of one call in every region; Google's documentation of text embeddings, November 2026. One of Gemini's at a time. */
const textsMax = 5;

export const target: HubTarget = {
  ...generateContent,
  embeddings: {
    // A key keeps it from fetching tokens. The package writes the folder itself.
    openModel({ model, ...settings }) {
      const name = model.replace(/^models\//, '');
      const opened = createGoogleVertex(settings).embeddingModel(name);
      return Object.create(opened, { maxEmbeddingsPerCall: { value: name.startsWith('gemini') ? 1 : textsMax } });
    },
    saysInputType: () => false,
    // Left out, a long text is cut in silence.
    toOptions: ({ dimensions }) => ({
      ...(dimensions === undefined ? {} : { dimensions }),
      providerOptions: { googleVertex: { autoTruncate: false } },
    }),
    leavesLength: true,
  },
};
