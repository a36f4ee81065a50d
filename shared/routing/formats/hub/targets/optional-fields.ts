// Writes the fields of a request that name the user and the place where its prompt is cached, for OpenAI and for
// Claude.
import { plainModelName } from '../../../../configuration/catalogue/index.ts';
import type { ProviderKind } from '../../../../configuration/model-list/index.ts';
import { sha256Hex } from '../../../../foundation/ids/index.ts';
import type { HubCall, OptionalName } from '../../../../protocol/hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/wire/index.ts';

const idMaxCharacters = 64;

/** Shortens an id, because longer ids are refused. Equal ids stay equal. */
const shortId = (text: string): string => (text.length <= idMaxCharacters ? text : sha256Hex(text));

type OptionalFields = Partial<Record<OptionalName, JsonObject>>;

/** Returns the options for both interfaces of OpenAI. */
export function openAiFields({ optional }: Pick<HubCall, 'optional'>): OptionalFields {
  const fields: OptionalFields = {};
  for (const { name, value } of optional) {
    if (name === 'store' && value === true) fields.store = { store: true };
    if (name === 'metadata' && isTexts(value)) fields.metadata = { metadata: value };
    if (typeof value !== 'string') continue;
    if (name === 'user' || name === 'safety_identifier') fields[name] = { safety_identifier: shortId(value) };
    if (name === 'cache_key') fields.cache_key = { prompt_cache_key: shortId(value) };
    // Some clients put the session's name into the user.
    if (name === 'user_session') {
      fields.user_session = { safety_identifier: shortId(value), prompt_cache_key: shortId(value) };
    }
  }
  return fields;
}

/** Names of fields for the user, the session and the purpose. */
interface ChatFields {
  readonly user?: 'user' | 'user_id';
  readonly cacheKey?: 'prompt_cache_key';
  readonly metadata?: 'metadata';
  readonly verbosity?: 'verbosity';
}

/**
 * Fields that chat providers accept, by kind, from the types of their SDKs on November 29, 2026: groq-sdk 1.6.0 (whose
 * `metadata` is documented as not supported), @cerebras/cerebras_cloud_sdk 1.91.0, @mistralai/mistralai 2.7.0,
 * @openrouter/sdk 1.3.19, @ai-sdk/xai 3.0.138, @ai-sdk/deepseek 2.0.69, and the page of Fireworks on prompt caching.
 * together-ai 0.52.0 has none. `verbosity` of OpenRouter: its page of parameters.
 */
const chatFields: Partial<Record<ProviderKind, ChatFields>> = {
  groq: { user: 'user' },
  xai: { user: 'user' },
  deepseek: { user: 'user_id' },
  cerebras: { user: 'user', cacheKey: 'prompt_cache_key' },
  fireworks: { user: 'user', cacheKey: 'prompt_cache_key' },
  mistral: { cacheKey: 'prompt_cache_key', metadata: 'metadata' },
  openrouter: { user: 'user', cacheKey: 'prompt_cache_key', metadata: 'metadata', verbosity: 'verbosity' },
};

/**
 * Returns options for a chat provider other than OpenAI. A provider without a kind may refuse fields that it does not
 * know.
 */
export function chatFieldsOf(kind: ProviderKind | undefined, { optional }: Pick<HubCall, 'optional'>): OptionalFields {
  const names = kind === undefined ? undefined : chatFields[kind];
  if (names === undefined) return {};
  const { user, cacheKey, metadata, verbosity } = names;
  const fields: OptionalFields = {};
  for (const { name, value } of optional) {
    if (name === 'metadata' && metadata !== undefined && isTexts(value)) fields.metadata = { [metadata]: value };
    if (typeof value !== 'string') continue;
    const asUser = user === undefined ? undefined : { [user]: userOf(value) };
    const asKey = cacheKey === undefined ? undefined : { [cacheKey]: shortId(value) };
    if ((name === 'user' || name === 'safety_identifier') && asUser !== undefined) fields[name] = asUser;
    if (name === 'cache_key' && asKey !== undefined) fields.cache_key = asKey;
    if (name === 'user_session' && (asUser ?? asKey) !== undefined) fields.user_session = { ...asUser, ...asKey };
    if (name === 'verbosity' && verbosity !== undefined) fields.verbosity = { [verbosity]: value };
  }
  return fields;
}

/** Joins all fields. The client's own session takes precedence over the session in the user's id. */
export const joinFields = ({ user_session: session, user, ...others }: OptionalFields): JsonObject =>
  Object.assign({}, session, user, ...Object.values(others));

export const carriedNames = (fields: OptionalFields): readonly OptionalName[] => Object.keys(fields) as OptionalName[];

/** True for models that accept any verbosity. OpenAI's models before GPT-5 refuse every verbosity except their own. */
export const knowsVerbosity = (names: readonly string[]): boolean =>
  names.some((name) => /(^|[/.])gpt-[5-9]/.test(plainModelName(name)));

const isTexts = (value: unknown): value is JsonObject =>
  isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string');

/** Returns the user; undefined when none is named. */
export function claudeUser({ optional }: Pick<HubCall, 'optional'>): string | undefined {
  const names: readonly OptionalName[] = ['safety_identifier', 'user', 'user_session'];
  const found = names.map((name) => optional.find((one) => one.name === name)?.value);
  const user = found.find((value) => typeof value === 'string');
  return user === undefined ? undefined : userOf(user as string);
}

/** Anthropic's own bound of a user. */
const userMaxCharacters = 256;
const userOf = (text: string): string => (text.length <= userMaxCharacters ? text : sha256Hex(text));
