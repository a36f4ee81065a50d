export * from './answer-json.ts';
export { type BodyMemory, openBodyMemory } from './body-memory.ts';
export { BytesEvent, isBytesType } from './bytes-event.ts';
export type * from './client-interface.ts';
export { type AuthenticatedRequest, type CredentialPlace, credentialPlaces } from './credential-places.ts';
export {
  dearerFeatures,
  dearerTools,
  isClientTool,
  openAiUsualTiers,
  surchargeFields,
  toolShape,
} from './dearer-features.ts';
export * from './fields-of-json.ts';
export type * from './grammar.ts';
export { firstOfEachNeed, hubMembers, isWebUrl, neededStops, preparesCache } from './hub-members.ts';
export { answerMaxBytes } from './large-answer.ts';
export { countValues, type LongValues, putBackValues, takeOutValues } from './long-values.ts';
export { boundedByContext, type Media, openImageMeasure, sumOfMedia } from './media-tokens.ts';
export * from './model-texts.ts';
export { endMarkerEvent, ParsedEvent, parseEvent } from './parsed-event.ts';
export { type PartUse, unknownPart } from './part-use.ts';
export * from './plain-members.ts';
export * from './provider-state.ts';
export { readAgain } from './read-again.ts';
export { membersOf, readMembers } from './read-members.ts';
export { orFault, otherCaseCheck, readPlainBody, refuseDoubles } from './read-plain-body.ts';
export { type RelayedInput, readListAnswer, relayedInterface, withCostHeader } from './relayed-interface.ts';
export { estimateCount, readTokenCount, sizeOfCount, zeroUsage } from './token-counts.ts';
export { claudeToolTokens } from './tool-prompts.ts';
