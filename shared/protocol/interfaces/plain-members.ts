// Reads the fields of the gateway that every interface has.
import * as z from 'zod/mini';
import { fail } from '../../errors/index.ts';
import { functionAliasPrefix } from '../../foundation/constants/index.ts';
import {
  cacheSchema,
  findMember,
  isJsonObject,
  type JsonObject,
  type JsonText,
  listOf,
  parseJson,
  providerSchema,
  type RoutedRequest,
} from '../wire/index.ts';
import type { PassedOn } from './client-interface.ts';

// The models that a body names.

/** Reads `model` as far as possible, because it is reported before anything else of a body is checked. */
export function readModel(json: JsonText): string | undefined {
  const member = findMember(json, 'model');
  const text = member === undefined ? '' : json.slice(member);
  return text.startsWith('"') ? (JSON.parse(text) as string) : undefined;
}

/**
 * True if the body names a function, even by a malformed alias, whose fault is reported before the types of other
 * fields.
 */
export const namesFunction = (json: JsonText): boolean => readModel(json)?.startsWith(functionAliasPrefix) === true;

/** Maximum number of `models`, because each model may be tried within one budget. */
const fallbackModelsMax = 8;

/** Model of a request that leaves the choice to its preset. */
export const unnamedModel = '';

/** Returns `model` and `models` of a body that was checked. Throws invalid_request if it names none. */
export function readModels({
  model: requestedModel,
  models,
  preset,
}: {
  readonly model?: string | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly preset?: unknown;
}): Pick<RoutedRequest, 'model' | 'fallbackModels' | 'memberOfModel'> {
  const modelIds = [requestedModel, ...(models ?? [])].filter((id) => id !== undefined && id !== null);
  const [model, ...fallbackModels] = modelIds.length < 2 ? modelIds : new Set(modelIds);
  if (model === undefined && (preset ?? null) === null)
    throw fail('invalid_request', { message: 'model: is missing', param: 'model' });
  const memberOfModel = (id: string) => {
    const index = requestedModel === id ? -1 : (models ?? []).indexOf(id);
    return index < 0 ? 'model' : `models[${index}]`;
  };
  return { model: model ?? unnamedModel, fallbackModels, memberOfModel };
}

const text = z.string().check(z.minLength(1));

/** Schemas of fields that select models, providers and cached answers. */
export const plainMembers = {
  model: z.nullish(text),
  models: z.nullish(listOf(text, { itemsMin: 1, itemsMax: fallbackModelsMax })),
  provider: z.nullish(providerSchema),
  cache: z.nullish(cacheSchema),
};

/** Schema of a conversation; a role or a type of content that is unknown is for the provider to judge. */
export const conversation = listOf(z.looseObject({ role: z.string() }), {
  itemsMin: 1,
  isGood: (message) => isJsonObject(message) && typeof message.role === 'string',
});

/** The gateway's fields in interfaces that have no others. `preset` is refused, and null means absent. */
export const plainGatewayMembers: ReadonlySet<string> = new Set(['provider', 'models', 'cache', 'preset']);

/** Changes that remove the gateway's fields from a body for a provider. */
export const withoutGatewayMembers: readonly (readonly [string, undefined])[] = [...plainGatewayMembers].map(
  (name) => [name, undefined] as const,
);

/**
 * Fields outside the cache key. No provider receives the gateway's fields, and their relevant parts, like the model,
 * are in other parts of the key.
 */
export const plainLeftOutOfCacheKey: ReadonlySet<string> = new Set(['model', ...plainGatewayMembers]);

/** Headers of the request that providers of all interfaces except chat completions get. */
export const vendorHeaders: readonly string[] = ['anthropic-version', 'anthropic-beta', 'openai-beta'];

/**
 * Returns the field that requests a prompt cache that outlives the memory of the provider's machines; undefined without
 * this field.
 */
export const retentionMember = ({ prompt_cache_retention: retention }: JsonObject): string | undefined =>
  (retention ?? null) === null || inMemory.includes(retention) ? undefined : 'prompt_cache_retention';

const inMemory: readonly unknown[] = ['in_memory', 'in-memory'];

/** Returns the betas. More expensive betas need the operator's consent, like more expensive fields. */
export const betasIn = (passedOn: PassedOn): string | undefined => passedOn.headers['anthropic-beta'];

export const passesAnything = (passedOn: PassedOn | undefined): boolean =>
  passedOn !== undefined && (passedOn.query !== '' || Object.keys(passedOn.headers).length > 0);

/** Returns settings with the operator's bound of the output; undefined if the client has set one. */
export function withDefaultBound(
  json: JsonText,
  member: string,
  field: string,
  tokens: number,
): JsonObject | undefined {
  const place = findMember(json, member);
  const value: unknown = place === undefined ? undefined : parseJson(json.slice(place));
  const settings = isJsonObject(value) ? value : {};
  return (settings[field] ?? null) === null ? { ...settings, [field]: tokens } : undefined;
}
