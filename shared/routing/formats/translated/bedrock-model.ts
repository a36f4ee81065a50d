import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { packageApiKey, packageBaseUrl } from './exchange.ts';
import type { OpenModel } from './models.ts';

/** With a key it signs nothing itself. */
export const openModel: OpenModel = ({ model, fetch, generateId }) =>
  createAmazonBedrock({
    baseURL: packageBaseUrl,
    region: 'none',
    apiKey: packageApiKey,
    fetch,
    generateId,
  })(model);
