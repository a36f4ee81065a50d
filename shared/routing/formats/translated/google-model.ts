import { createGoogle } from '@ai-sdk/google';
import { packageApiKey, packageBaseUrl } from './fetch-through-send.ts';
import type { OpenModel } from './open-model.ts';

export const openModel: OpenModel = ({ model, fetch, generateId }) =>
  createGoogle({ baseURL: packageBaseUrl, apiKey: packageApiKey, fetch, generateId })(pathOf(model));

/** The package takes a name with a slash for a path of its own. */
const pathOf = (model: string): string =>
  !model.includes('/') || /^(models|tunedModels)\//.test(model) ? model : `models/${model}`;
