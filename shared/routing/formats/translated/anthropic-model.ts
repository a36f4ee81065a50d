import { createAnthropic } from '@ai-sdk/anthropic';
import { packageApiKey, packageBaseUrl } from './fetch-through-send.ts';
import type { OpenModel } from './open-model.ts';

export const openModel: OpenModel = ({ model, fetch, generateId }) =>
  createAnthropic({ baseURL: packageBaseUrl, apiKey: packageApiKey, fetch, generateId })(model);
