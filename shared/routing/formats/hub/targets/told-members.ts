// Members of a request that say who asks and where its prompt is cached, in the words of OpenAI and of Claude.
import { plainModelName } from '../../../../configuration/catalogue/index.ts';
import { sha256Hex } from '../../../../foundation/ids/index.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/wire/index.ts';
import type { HubCall, OptionalName } from '../middle/index.ts';

const idMaxCharacters = 64;

/** Longer ones are refused. The same text stays the same. */
const shortId = (text: string): string => (text.length <= idMaxCharacters ? text : sha256Hex(text));

type Told = Partial<Record<OptionalName, JsonObject>>;

/** Options in the words of both interfaces of OpenAI. */
export function openAiWords({ optional }: Pick<HubCall, 'optional'>): Told {
  const told: Told = {};
  for (const { name, value } of optional) {
    if (name === 'store' && value === true) told.store = { store: true };
    if (name === 'metadata' && isTexts(value)) told.metadata = { metadata: value };
    if (typeof value !== 'string') continue;
    if (name === 'user' || name === 'safety_identifier') told[name] = { safety_identifier: shortId(value) };
    if (name === 'cache_key') told.cache_key = { prompt_cache_key: shortId(value) };
    // Clients name their session with the user.
    if (name === 'user_session') {
      told.user_session = { safety_identifier: shortId(value), prompt_cache_key: shortId(value) };
    }
  }
  return told;
}

/** All of them. The client's own session has precedence over that of the user's id. */
export const joinWords = ({ user_session: session, user, ...others }: Told): JsonObject =>
  Object.assign({}, session, user, ...Object.values(others));

export const toldNames = (told: Told): readonly OptionalName[] => Object.keys(told) as OptionalName[];

/** Models of OpenAI's before GPT-5 refuse any but their own. */
export const knowsVerbosity = (names: readonly string[]): boolean =>
  names.some((name) => /(^|[/.])gpt-[5-9]/.test(plainModelName(name)));

const isTexts = (value: unknown): value is JsonObject =>
  isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string');

/** Returns undefined when no user is named. */
export function claudeUser({ optional }: Pick<HubCall, 'optional'>): string | undefined {
  const names: readonly OptionalName[] = ['safety_identifier', 'user', 'user_session'];
  const found = names.map((name) => optional.find((one) => one.name === name)?.value);
  const user = found.find((value) => typeof value === 'string');
  return user === undefined ? undefined : userOf(user as string);
}

/** Anthropic's own bound. */
const userMaxCharacters = 256;
const userOf = (text: string): string => (text.length <= userMaxCharacters ? text : sha256Hex(text));
