export {
  cacheMark,
  isMarked,
  type Marked,
  markedAs,
  markedMembers,
  markOf,
  withMark,
  withoutMark,
} from './cache-mark.ts';
export * from './cache-marks.ts';
export { numberOption, toInputSchema, toResponseFormat } from './call-options.ts';
export * from './distinct-call-ids.ts';
export * from './field-uses.ts';
export * from './hub-call.ts';
export * from './hub-source.ts';
export { clientCallId, createKnownCalls, type KnownCall, type KnownCalls } from './known-calls.ts';
export { oneCallAtATime } from './one-call-at-a-time.ts';
export * from './other-members.ts';
export { addResults, imagesOfUser, putInstructionsFirst, withEveryResult } from './prompt-order.ts';
export * from './prompt-parts.ts';
export * from './read-result.ts';
export { eventsByPart, partsOfResult } from './result-parts.ts';
export type * from './signatures.ts';
export {
  envelopeOptions,
  isSigned,
  type OpenedEnvelope,
  phaseOf,
  phaseOptions,
  sealSigned,
  signedOptions,
  withOwnSigned,
} from './signed.ts';
export { type Strictness, strictPath, withStrictness } from './strict-tools.ts';
export { createInputWriter, type InputWriter } from './tool-input.ts';
export { createToolNames, type ToolNames } from './tool-names.ts';
