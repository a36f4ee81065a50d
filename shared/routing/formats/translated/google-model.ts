import { createGoogle } from '@ai-sdk/google';
import { packageApiKey, packageBaseUrl } from './fetch-through-send.ts';
import type { OpenModel } from './open-model.ts';

export const openModel: OpenModel = ({ model, fetch, generateId }) =>
  createGoogle({ baseURL: packageBaseUrl, apiKey: packageApiKey, fetch, generateId })(model);
