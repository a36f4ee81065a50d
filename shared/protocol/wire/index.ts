export {
  type CacheWishes,
  type ChatRequest,
  type PresetWish,
  type ReasoningWishes,
  readChatRequest,
} from './chat-request.ts';
export { chatRequestJsonSchema } from './chat-request-json-schema.ts';
export { doneLine, doneText, errorLine, readEventTexts, toEventLine } from './event-stream.ts';
export { type JsonAnswer, type ReadAnswer, readJsonAnswer, withoutReasoning } from './json-answer.ts';
export { isJsonObject, type JsonBody, readJsonBody } from './json-body.ts';
export {
  autoModelObject,
  type ModelListObject,
  type ModelObject,
  noStats,
  type ProviderEntryObject,
  type StatsObject,
} from './model-list.ts';
export type { PolicyWishes, ProviderWishes, SortOrder } from './provider-wishes.ts';
export { readStreamChunk, type StreamChunk } from './stream-chunk.ts';
