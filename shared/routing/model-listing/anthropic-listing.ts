// The list of models as clients of Anthropic's interface read it, in pages.
import { fail } from '../../errors/index.ts';
import { instantOf } from '../../foundation/time/index.ts';
import type { AnthropicModelObject, AnthropicModelPage, ModelListItem } from '../../protocol/wire/index.ts';

const limitDefault = 20;
const limitMax = 1_000;
const msPerSecond = 1_000;

export function toAnthropicModel(model: ModelListItem): AnthropicModelObject {
  const outputs = 'providers' in model ? model.providers.map((entry) => entry.max_output_tokens) : [];
  return {
    type: 'model',
    id: model.id,
    display_name: 'display_name' in model ? model.display_name : model.id,
    created_at: instantOf(model.created * msPerSecond).replace(/\.\d+Z$/, 'Z'),
    lifecycle: 'active',
    line: null,
    max_input_tokens: 'context_length' in model ? model.context_length : null,
    max_tokens: outputs.length === 0 ? null : Math.max(...outputs),
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
  };
}

/** Throws invalid_request for a page that there cannot be. */
export function toAnthropicPage(models: readonly ModelListItem[], query: string): AnthropicModelPage {
  const parameters = new URLSearchParams(query);
  const limit = readLimit(parameters.get('limit'));
  const [after, before] = [placeOf(models, parameters, 'after_id'), placeOf(models, parameters, 'before_id')];
  if (after !== undefined && before !== undefined) {
    throw fail('invalid_request', { message: 'after_id and before_id exclude one another.' });
  }
  const end = before ?? models.length;
  const start = before === undefined ? (after ?? -1) + 1 : Math.max(0, before - limit);
  const page = models.slice(start, Math.min(start + limit, end));
  return {
    data: page.map(toAnthropicModel),
    has_more: before === undefined ? start + page.length < models.length : start > 0,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function readLimit(written: string | null): number {
  if (written === null) return limitDefault;
  const limit = /^\d{1,4}$/.test(written) ? Number(written) : 0;
  if (limit >= 1 && limit <= limitMax) return limit;
  throw fail('invalid_request', { message: `limit: must be a whole number from 1 to ${limitMax}.` });
}

function placeOf(models: readonly ModelListItem[], parameters: URLSearchParams, name: string): number | undefined {
  const id = parameters.get(name);
  if (id === null) return undefined;
  const place = models.findIndex((model) => model.id === id);
  if (place < 0) throw fail('invalid_request', { message: `${name}: is no id of this list.` });
  return place;
}
