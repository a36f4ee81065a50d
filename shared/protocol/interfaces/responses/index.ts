export { type DeclaredTool, declaredTools, isNeedless, toolMatcher } from './declared-tools.ts';
export { itemType, itemUse } from './item-types.ts';
export { type EventToWrite, readResponseUsage, writtenEvent } from './response-events.ts';
export { ownItemId, ownResponseId, responseText } from './response-opening.ts';
export { responseSettings } from './response-settings.ts';
export { compact, inputTokens, responses } from './responses.ts';
