// The list of models as clients of Google's interface read it, in pages.
import { fail } from '../../errors/index.ts';
import { autoModelId } from '../../foundation/constants/index.ts';
import type { GoogleModelObject, GoogleModelPage, ModelListItem } from '../../protocol/wire/index.ts';

const pageSizeDefault = 50;
const pageSizeMax = 1_000;
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
  // It resolves to a model that can do what is asked.
  if (model.id === autoModelId) return [...methodsOf['generate-content']];
  const apis: readonly string[] = ('apis' in model ? model.apis : undefined) ?? [];
  return Object.entries(methodsOf).flatMap(([api, methods]) => (apis.includes(api) ? methods : []));
}

/** Throws invalid_request for a page that there cannot be. A token of a page is the id of its first model. */
export function toGooglePage(models: readonly ModelListItem[], query: string): GoogleModelPage {
  const parameters = new URLSearchParams(query);
  const size = readSize(parameters.get('pageSize') ?? parameters.get('page_size'));
  const start = startOf(models, parameters.get('pageToken') ?? parameters.get('page_token'));
  const next = models[start + size];
  return {
    models: models.slice(start, start + size).map(toGoogleModel),
    ...(next === undefined ? {} : { nextPageToken: next.id }),
  };
}

function readSize(written: string | null): number {
  if (written === null || written === '' || written === '0') return pageSizeDefault;
  if (/^\d{1,9}$/.test(written)) return Math.min(Number(written), pageSizeMax);
  throw fail('invalid_request', { message: 'pageSize: must be a whole number.', param: 'pageSize' });
}

function startOf(models: readonly ModelListItem[], token: string | null): number {
  if (token === null || token === '') return 0;
  const start = models.findIndex((model) => model.id === token);
  if (start < 0) throw fail('invalid_request', { message: 'pageToken: is none of this list.', param: 'pageToken' });
  return start;
}
