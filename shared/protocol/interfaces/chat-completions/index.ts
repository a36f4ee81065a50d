export { type ChatRequest, outputBoundNames, type PresetOption } from './chat-request.ts';
export { gatewayMembers } from './gateway-members.ts';
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
export { readChatRequest } from './read-chat-request.ts';
export { readUsageReport } from './read-usage.ts';
export { chatRequestJsonSchema, schemaCarrierJsonSchema } from './request-json-schema.ts';
export { brokenStreamEnd, closeBrokenStream, doneLine, doneText } from './stream-ending.ts';
export { toUpstreamBody } from './upstream-body.ts';
