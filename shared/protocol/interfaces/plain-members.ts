// Members of the gateway that every interface reads.
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

/** Reads `model` as far as possible: it is reported before anything else of a body is checked. */
export function readModel(json: JsonText): string | undefined {
  const member = findMember(json, 'model');
  const text = member === undefined ? '' : json.slice(member);
  return text.startsWith('"') ? (JSON.parse(text) as string) : undefined;
}

/** True also for a malformed alias, whose form is reported before the types of other fields. */
export const namesFunction = (json: JsonText): boolean => readModel(json)?.startsWith(functionAliasPrefix) === true;

/** `models`: each may be tried within one budget. */
const fallbackModelsMax = 8;

/** `model` and `models` of a body that was checked. Throws invalid_request where it names none. */
/** Of a request that leaves its model to its preset. */
export const unnamedModel = '';

export function readModels({
  model: requestedModel,
  models,
  preset,
}: {
  readonly model?: string | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly preset?: unknown;
}): Pick<RoutedRequest, 'model' | 'fallbackModels' | 'memberOfModel'> {
  const [model, ...fallbackModels] = new Set(
    [requestedModel, ...(models ?? [])].filter((id) => id !== undefined && id !== null),
  );
  if (model === undefined && (preset ?? null) === null)
    throw fail('invalid_request', { message: 'model: is missing', param: 'model' });
  const memberOfModel = (id: string) => {
    const index = requestedModel === id ? -1 : (models ?? []).indexOf(id);
    return index < 0 ? 'model' : `models[${index}]`;
  };
  return { model: model ?? unnamedModel, fallbackModels, memberOfModel };
}

const text = z.string().check(z.minLength(1));

/** Fields of a schema that select models, providers and cached answers. */
export const plainMembers = {
  model: z.nullish(text),
  models: z.nullish(listOf(text, { itemsMin: 1, itemsMax: fallbackModelsMax })),
  provider: z.nullish(providerSchema),
  cache: z.nullish(cacheSchema),
};

/** A role or a type of content that is new is the provider's to judge. */
export const conversation = listOf(z.looseObject({ role: z.string() }), {
  itemsMin: 1,
  isGood: (message) => isJsonObject(message) && typeof message.role === 'string',
});

/** Gateway fields of interfaces that have no others. `preset` is refused, and null means absent. */
export const plainGatewayMembers: ReadonlySet<string> = new Set(['provider', 'models', 'cache', 'preset']);

/** Removals for an upstream body. */
export const withoutGatewayMembers: readonly (readonly [string, undefined])[] = [...plainGatewayMembers].map(
  (name) => [name, undefined] as const,
);

/** No provider receives the gateway's fields; their relevant parts are in other parts of the key, as is the model. */
export const plainLeftOutOfCacheKey: ReadonlySet<string> = new Set(['model', ...plainGatewayMembers]);

/** Headers of the request that providers of all interfaces but chat completions get. */
export const vendorHeaders: readonly string[] = ['anthropic-version', 'anthropic-beta', 'openai-beta'];

/**
 * The field that asks for a prompt cache which outlives the memory of the provider's machines; undefined when none
 * does.
 */
export const retentionMember = ({ prompt_cache_retention: retention }: JsonObject): string | undefined =>
  (retention ?? null) === null || inMemory.includes(retention) ? undefined : 'prompt_cache_retention';

const inMemory: readonly unknown[] = ['in_memory', 'in-memory'];

/** Dearer betas need the operator's consent, as dearer fields do. */
export const betasIn = (passedOn: PassedOn): string | undefined => passedOn.headers['anthropic-beta'];

export const passesAnything = (passedOn: PassedOn | undefined): boolean =>
  passedOn !== undefined && (passedOn.query !== '' || Object.keys(passedOn.headers).length > 0);

/** Settings with the operator's bound of the output; undefined where the client has set one. */
export function withDefaultBound(
  json: JsonText,
  member: string,
  field: string,
  tokens: number,
): JsonObject | undefined {
  const place = findMember(json, member);
  const sent: unknown = place === undefined ? undefined : parseJson(json.slice(place));
  const settings = isJsonObject(sent) ? sent : {};
  return (settings[field] ?? null) === null ? { ...settings, [field]: tokens } : undefined;
}
