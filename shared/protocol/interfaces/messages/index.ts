export { blockUse } from './block-types.ts';
export { writtenEvent } from './message-events.ts';
export { countTokens, messages } from './messages.ts';
export { offeredTools } from './offered-tools.ts';
