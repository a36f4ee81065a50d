export type { CandidateRequest, NoAnswer, Send } from '../providers/index.ts';
export { callCandidate, type EventStream, type Spoken } from './call-candidate.ts';
export { mayGoThroughHub, wayTo } from './capabilities.ts';
