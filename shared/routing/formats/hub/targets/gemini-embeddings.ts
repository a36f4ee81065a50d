// Gemini's embedding models, called by embedContent and batchEmbedContents.
import { createGoogle } from '@ai-sdk/google';
import { isJsonObject } from '../../../../protocol/wire/index.ts';
import type { EmbeddingTarget } from './hub-target.ts';

export const geminiEmbeddings: EmbeddingTarget = {
  // The package writes the folder itself.
  openModel: ({ model, ...settings }) => createGoogle(settings).embedding(model.replace(/^models\//, '')),
  knownFields: () => ['taskType'],
  toOptions: ({ dimensions, taskType }) => ({
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(taskType === undefined ? {} : { providerOptions: { google: { taskType } } }),
  }),
  // The package drops what newer models report.
  tokensIn({ response }) {
    const usage = isJsonObject(response?.body) ? response.body.usageMetadata : undefined;
    return isJsonObject(usage) ? usage.promptTokenCount : undefined;
  },
  leavesLength: true,
};
