export { countTokens, messages } from './messages.ts';

/** Loads the interface with the first call of a client of Bedrock. */
export const loadInvoke = async () => (await import('./invoke.ts')).invoke;
