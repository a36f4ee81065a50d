export {
  type ChatRequest,
  outputBoundNames,
  type PresetOption,
  type ReasoningOptions,
  readChatRequest,
} from './chat-request.ts';
export { readUsageReport } from './chat-usage.ts';
export * from './event-stream.ts';
export { type BodyText, gatewayMembers, isJsonObject, readJsonBody, readRequestBody } from './json-body.ts';
export {
  autoModelObject,
  type FunctionModelObject,
  type ModelListObject,
  type ModelObject,
  noStats,
  type ProviderEntryObject,
  type StatsObject,
} from './model-list.ts';
export {
  answerJson,
  type JsonAnswer,
  readChoices,
  readJsonAnswer,
  readReportedUsage,
  readStreamChunk,
  type StreamChunk,
  withContents,
  withoutReasoning,
  withoutReasoningDeltas,
} from './provider-answer.ts';
export type { PolicyOptions, ProviderPreferences, SortOrder } from './provider-preferences.ts';
export * from './read-json-text.ts';
export { chatRequestJsonSchema, schemaCarrierJsonSchema } from './request-json-schema.ts';
export * from './usage-report.ts';
