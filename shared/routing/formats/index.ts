export { callCandidate, type EventStream } from './call-candidate.ts';
export type { CandidateRequest, NoAnswer, Send } from './send.ts';
