export type { CandidateRequest, EventStream, NoAnswer, OpenPart, Pause, ReachedVia, Send } from '../providers/index.ts';
export { callCandidate } from './call-candidate.ts';
export { type CandidateFormat, chooseFormat, mayTranslateCandidate } from './capabilities.ts';
export { addsCacheMarks, marksItsCache } from './relayed-cache-marks.ts';
export { type LimitedCall, requestsOf } from './requests-of.ts';
