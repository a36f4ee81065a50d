export { embeddings } from './embeddings.ts';
export { playground } from './playground.ts';
