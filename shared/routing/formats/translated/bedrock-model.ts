import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { packageApiKey, packageBaseUrl } from './fetch-through-send.ts';
import type { OpenModel } from './open-model.ts';

/** With a key it signs nothing itself. */
export const openModel: OpenModel = ({ model, fetch, generateId }) =>
  createAmazonBedrock({
    baseURL: packageBaseUrl,
    region: 'none',
    apiKey: packageApiKey,
    fetch,
    generateId,
  })(model);
