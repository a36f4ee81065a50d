export { countTokens, messages } from './messages.ts';
