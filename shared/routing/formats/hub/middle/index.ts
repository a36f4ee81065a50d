export { cacheMark, cacheWritesOf, withCacheMarksMax } from './cache-mark.ts';
export { fileOfUrl } from './file-of-url.ts';
export type * from './hub-call.ts';
export type * from './hub-source.ts';
export type * from './hub-target.ts';
export { jsonResponse } from './json-response.ts';
export { clientCallId, createKnownCalls, type KnownCall, type KnownCalls } from './known-calls.ts';
export { addResults, imagesOfUser, instructionsFirst } from './prompt-order.ts';
export {
  byBudget,
  isEffort,
  reasoningOf,
  type Thinking,
  thinkingMinTokens,
  thinkingOf,
  untold,
} from './reasoning.ts';
export { signedOptions, withOwnSigned } from './signed.ts';
export { createToolNames, type ToolNames } from './tool-names.ts';
