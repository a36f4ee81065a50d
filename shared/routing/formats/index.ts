export { callCandidate, type EventStream } from './call-candidate.ts';
export type { CandidateRequest, NoAnswer, Send } from './send.ts';
export { missingFeatures } from './translated/missing-features.ts';
export { translated } from './translated-format.ts';
