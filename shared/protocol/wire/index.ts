export { isBrokenEnd, isEndWord, meaningOfEnd } from '../event-folds/index.ts';
export { type EventText, readEvents } from '../server-sent-events/index.ts';
export type * from './answers.ts';
export { cachePlaces } from './cache-places.ts';
export { checkMembers, itemSchemas, listOf, memberFault } from './checked-members.ts';
export * from './event-lines.ts';
export { imageTypeOf, openPixelReader, type Pixels } from './image-pixels.ts';
export { parseInnerJson } from './inner-json.ts';
export {
  type BodyText,
  isJsonObject,
  type JsonObject,
  type RequestMembers,
  readJsonBody,
  readRequestBody,
  readUnambiguousBody,
} from './json-body.ts';
export { JsonText } from './json-text.ts';
export { createBracketReader, endOfBrackets } from './json-tokens.ts';
export * from './model-list.ts';
export { parseInTurns } from './parse-in-turns.ts';
export * from './provider-preferences.ts';
export * from './read-json-text.ts';
export * from './read-to-end.ts';
export { type Effort, isEffort, type ReasoningPreference } from './reasoning-preference.ts';
export type * from './routed-request.ts';
export { cacheSchema, type PresetOption, presetSchema } from './routed-request.ts';
export { scanJson } from './scan-json.ts';
export * from './signed-envelope.ts';
export { stringifyInTurns } from './stringify-in-turns.ts';
export { sumUsage } from './sum-usage.ts';
export * from './tags.ts';
export * from './usage-report.ts';
