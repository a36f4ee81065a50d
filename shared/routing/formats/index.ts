export type { CandidateRequest, EventStream, NoAnswer, Send, Spoken } from '../providers/index.ts';
export { callCandidate } from './call-candidate.ts';
export { mayGoThroughHub, chooseFormat } from './capabilities.ts';
