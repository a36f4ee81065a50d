export type { ConversationPart, ConversationTurn } from './conversation.ts';
export { readAnswerTurns, readRequestTurns } from './read-turns.ts';
