export { blockUse, isListedBlock } from './block-types.ts';
export { type DeclaredTool, declaredTools, offeredTools } from './declared-tools.ts';
export { writtenEvent } from './message-events.ts';
export { readUsageReport } from './message-usage.ts';
export { countTokens, messages } from './messages.ts';
