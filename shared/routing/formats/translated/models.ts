// The provider packages, each loaded when a provider of its format is called for the first time.
import type { OpenModel } from './open-model.ts';
import type { TranslatedApi } from './translated-api.ts';

const loaders: Readonly<Record<TranslatedApi, () => Promise<{ readonly openModel: OpenModel }>>> = {
  messages: () => import('./anthropic-model.ts'),
  converse: () => import('./bedrock-model.ts'),
  'generate-content': () => import('./google-model.ts'),
};

export const loadModel = async (api: TranslatedApi): Promise<OpenModel> => (await loaders[api]()).openModel;
