/** Interfaces of clients, by the names under which they are stored and configured. */
export const interfaceIds = ['chat-completions', 'messages', 'responses', 'embeddings'] as const;
export type InterfaceId = (typeof interfaceIds)[number];
