export { type DeclaredTool, declaredTools, isNeedless, meantBy } from './declared-tools.ts';
export { ownItemId, ownResponseId } from './item-ids.ts';
export { type EventToWrite, writtenEvent } from './response-events.ts';
export { responseText } from './response-opening.ts';
export { responseSettings } from './response-settings.ts';
export { responses } from './responses.ts';
