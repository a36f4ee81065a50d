export type { CandidateRequest, EventStream, NoAnswer, Send, ReachedVia } from '../providers/index.ts';
export { callCandidate } from './call-candidate.ts';
export { mayGoThroughHub, chooseFormat } from './capabilities.ts';
