// Embeddings of Vertex, called by predict and embedContent. Its chat models are called like models of Gemini, by
// `generate-content`.
import { createGoogleVertex } from '@ai-sdk/google-vertex/edge';
import { target as generateContent } from './generate-content-target.ts';
import type { HubTarget } from './hub-target.ts';

/**
 * Maximum number of texts of one call. Five texts of the maximum length, 2,048 tokens each, stay below the 20,000
 * tokens of a request. Models of Gemini accept one text (cloud.google.com/vertex-ai, get-text-embeddings, November
 * 2026).
 */
const textsMax = 5;

export const target: HubTarget = {
  ...generateContent,
  embeddingModels: {
    // A key keeps the package from fetching tokens. The package adds the folder itself.
    openModel({ model, ...settings }) {
      const name = model.replace(/^models\//, '');
      const opened = createGoogleVertex(settings).embeddingModel(name);
      return Object.create(opened, { maxEmbeddingsPerCall: { value: name.startsWith('gemini') ? 1 : textsMax } });
    },
    supportedFields: () => ['taskType', 'title'],
    toOptions: ({ dimensions, taskType, title }) => ({
      ...(dimensions === undefined ? {} : { dimensions }),
      providerOptions: {
        googleVertex: {
          // Without the field a long text is cut silently.
          autoTruncate: false,
          ...(taskType === undefined ? {} : { taskType }),
          ...(title === undefined ? {} : { title }),
        },
      },
    }),
    needsNormalization: true,
  },
};
