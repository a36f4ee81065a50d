// Bedrock's reranking models, which another service than its runtime calls.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { isJsonObject } from '../../../../protocol/wire/index.ts';
import type { RerankTarget } from './hub-target.ts';

export const bedrockReranking: RerankTarget = {
  // A key keeps it from signing.
  openModel: ({ model, ...settings }, { region = 'us-east-1' }) =>
    createAmazonBedrock({ ...settings, region }).reranking(model),
  hostname: (runtime) => runtime.replace(/^bedrock-runtime\./, 'bedrock-agent-runtime.'),
  pageOptions: (nextToken) => (nextToken === undefined ? {} : { providerOptions: { amazonBedrock: { nextToken } } }),
  nextPage: (answer) => (isJsonObject(answer) && typeof answer.nextToken === 'string' ? answer.nextToken : undefined),
};
