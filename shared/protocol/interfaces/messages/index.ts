export { writtenEvent } from './message-events.ts';
export { readUsageReport } from './message-usage.ts';
export { countTokens, messages } from './messages.ts';
