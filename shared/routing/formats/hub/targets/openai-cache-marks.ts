// Writes cache marks in the fields of OpenAI, on both of its interfaces.
import { plainModelName } from '../../../../configuration/catalogue/index.ts';
import { type HubCall, withCacheMarksMax, withoutCacheMarks } from '../../../../protocol/hub/index.ts';
import type { JsonObject } from '../../../../protocol/wire/index.ts';
import { nonEmpty } from './body-members.ts';

/** True for GPT-5.6 and later models. */
export const knowsMarks = (names: readonly string[]): boolean =>
  names.some((name) => /(^|[/.])gpt-(5-([6-9]|\d\d)(?!\d)|[6-9])/.test(plainModelName(name)));

/** Returns the call with its cache marks. Removes the marks for older models, which refuse marks. */
export const withOpenAiMarks = (call: HubCall, names: readonly string[]): HubCall =>
  knowsMarks(names) ? withCacheMarksMax(call) : withoutCacheMarks(call);

/** Returns the options; a request that only fills the cache is refused before. */
export const openAiCacheOptions = ({ mode, ttl }: JsonObject): JsonObject => ({
  ...nonEmpty('mode', mode),
  ...nonEmpty('ttl', ttl),
});
