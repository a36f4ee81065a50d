export type { CandidateRequest, NoAnswer, Send } from '../providers/index.ts';
export { callCandidate, type EventStream } from './call-candidate.ts';
export { featuresMissing, firstOfEachName, type MissingFeature, missingFeatures } from './missing-features.ts';
export { translated } from './translated-format.ts';
