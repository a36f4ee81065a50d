import { createGoogle } from '@ai-sdk/google';
import { packageApiKey, packageBaseUrl } from './exchange.ts';
import type { OpenModel } from './models.ts';

export const openModel: OpenModel = ({ model, fetch, generateId }) =>
  createGoogle({ baseURL: packageBaseUrl, apiKey: packageApiKey, fetch, generateId })(model);
