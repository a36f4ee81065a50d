export { converse, converseTokens } from './converse.ts';
