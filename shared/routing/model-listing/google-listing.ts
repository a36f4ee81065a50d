// Writes the list of models as clients of Google's interface read it, in pages.
import { autoModelId } from '../../foundation/constants/index.ts';
import type { GoogleModelObject, GoogleModelPage, ModelListItem } from '../../protocol/wire/index.ts';
import { pageOf } from './pages.ts';

const pageSizes = { param: 'pageSize', fallback: 50, max: 1_000, zeroIsNone: true };
const prefix = 'models/';

/** Operations by the interface that a model is listed with. */
const methodsOf = {
  'generate-content': ['generateContent', 'countTokens'],
  embeddings: ['embedContent', 'batchEmbedContents'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export function toGoogleModel(model: ModelListItem): GoogleModelObject {
  const entries = 'providers' in model ? model.providers : [];
  return {
    name: prefix + model.id,
    baseModelId: model.id,
    version: String(model.created),
    displayName: 'display_name' in model ? model.display_name : model.id,
    description: '',
    ...('context_length' in model ? { inputTokenLimit: model.context_length } : {}),
    ...(entries.length === 0 ? {} : { outputTokenLimit: Math.max(...entries.map((entry) => entry.max_output_tokens)) }),
    supportedGenerationMethods: operationsOf(model),
  };
}

function operationsOf(model: ModelListItem): string[] {
  // `auto` resolves to a model that supports the request.
  if (model.id === autoModelId) return [...methodsOf['generate-content']];
  const apis: readonly string[] = ('apis' in model ? model.apis : undefined) ?? [];
  return Object.entries(methodsOf).flatMap(([api, methods]) => (apis.includes(api) ? methods : []));
}

/** Returns the page. Throws invalid_request for an impossible page. */
export function toGooglePage(models: readonly ModelListItem[], query: string): GoogleModelPage {
  const parameters = new URLSearchParams(query);
  const sentAs = (param: string, spelling: string) => parameters.get(param) ?? parameters.get(spelling);
  const page = pageOf(models, {
    size: { ...pageSizes, sent: sentAs('pageSize', 'page_size') },
    token: { param: 'pageToken', sent: sentAs('pageToken', 'page_token') },
  });
  return {
    models: page.models.map(toGoogleModel),
    ...(page.nextToken === undefined ? {} : { nextPageToken: page.nextToken }),
  };
}
