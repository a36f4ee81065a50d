export type { CandidateRequest, EventStream, NoAnswer, OpenPart, Pause, ReachedVia, Send } from '../providers/index.ts';
export { callCandidate } from './call-candidate.ts';
export { type CandidateFormat, chooseFormat, mayGoThroughHub } from './capabilities.ts';
export { requestsOf } from './requests-of.ts';
