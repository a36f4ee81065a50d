export { blockUse } from './block-types.ts';
export { countTokens, messages } from './messages.ts';
