export * from './end-words.ts';
export * from './event-fold.ts';
export { addPieces } from './join-pieces.ts';
