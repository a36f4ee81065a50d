export { cacheMark } from './cache-mark.ts';
export { fileOfUrl } from './file-of-url.ts';
export type * from './hub-call.ts';
export type * from './hub-source.ts';
export type * from './hub-target.ts';
export { createKnownCalls, type KnownCalls } from './known-calls.ts';
export { addResults, instructionsFirst } from './prompt-order.ts';
export { isEffort, thinkingMinTokens, thinkingOf } from './reasoning.ts';
export { signedOptions, withOwnSigned } from './signed.ts';
