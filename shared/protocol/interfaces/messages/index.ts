export { blockUse } from './block-types.ts';
export { offeredTools } from './declared-tools.ts';
export { writtenEvent } from './message-events.ts';
export { readUsageReport } from './message-usage.ts';
export { countTokens, messages } from './messages.ts';
