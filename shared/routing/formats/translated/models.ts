// The provider packages, each loaded when a provider of its format is called for the first time.
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { TranslatedApi } from './missing-features.ts';

export interface ModelOptions {
  /** As the provider names it. */
  readonly model: string;
  readonly fetch: typeof fetch;
  /** For tool calls that came without one. */
  readonly generateId: () => string;
}

export type OpenModel = (options: ModelOptions) => LanguageModelV4;

const loaders: Readonly<Record<TranslatedApi, () => Promise<{ readonly openModel: OpenModel }>>> = {
  messages: () => import('./anthropic-model.ts'),
  converse: () => import('./bedrock-model.ts'),
  'generate-content': () => import('./google-model.ts'),
};

export const loadModel = async (api: TranslatedApi): Promise<OpenModel> => (await loaders[api]()).openModel;
