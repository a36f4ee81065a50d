export { playground } from './playground.ts';
export { rerank } from './rerank.ts';
