export { chatCompletions } from './chat-completions.ts';
export { type ChatRequest, outputBoundNames } from './chat-request.ts';
export { gatewayMembers } from './gateway-members.ts';
export { readChoices, withoutReasoning } from './provider-answer.ts';
export { readChatRequest } from './read-chat-request.ts';
export { readUsageReport, separateReasoningTokens, withUsualNames } from './read-usage.ts';
export { chatRequestJsonSchema, schemaCarrierJsonSchema } from './request-json-schema.ts';
