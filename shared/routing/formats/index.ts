export { type ChunkStream, relay } from './relay.ts';
export type { CandidateRequest, NoAnswer, Send } from './send.ts';
