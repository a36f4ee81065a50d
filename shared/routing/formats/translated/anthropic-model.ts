import { createAnthropic } from '@ai-sdk/anthropic';
import { packageApiKey, packageBaseUrl } from './exchange.ts';
import type { OpenModel } from './models.ts';

export const openModel: OpenModel = ({ model, fetch, generateId }) =>
  createAnthropic({ baseURL: packageBaseUrl, apiKey: packageApiKey, fetch, generateId })(model);
