export type { CandidateRequest, NoAnswer, Send } from '../providers/index.ts';
export { callCandidate } from './call-candidate.ts';
export type { EventStream, Spoken } from './candidate-call.ts';
export { wayTo } from './capabilities.ts';
