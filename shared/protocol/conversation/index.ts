export * from './conversation.ts';
export * from './read-turns.ts';
