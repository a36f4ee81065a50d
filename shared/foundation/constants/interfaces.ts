/**
 * Interfaces of clients, by the names under which they are stored, each with the interfaces of providers that can serve it:
 * a chat completion is translated where a provider speaks another, the others are relayed as they are.
 */
export const servingApis = {
  'chat-completions': ['chat-completions', 'messages', 'converse', 'generate-content'],
  messages: ['messages'],
  'count-tokens': ['messages'],
  responses: ['responses'],
  embeddings: ['embeddings'],
} as const;
export type InterfaceId = keyof typeof servingApis;
export const interfaceIds = Object.keys(servingApis) as readonly InterfaceId[];

/** Interfaces of providers, as the gateway file names them. */
export type ProviderApi = (typeof servingApis)[InterfaceId][number];
export const providerApis: readonly ProviderApi[] = [...new Set(Object.values(servingApis).flat())];

/** As the list of models names it: a count of tokens goes with its messages. */
export const listedAs = (id: InterfaceId): InterfaceId => (id === 'count-tokens' ? 'messages' : id);
export const listedInterfaceIds = [...new Set(interfaceIds.map(listedAs))];

/** What a call of each asks a model for, in the words of OpenTelemetry. */
export const operationOf: Readonly<Record<InterfaceId, 'chat' | 'embeddings'>> = {
  'chat-completions': 'chat',
  messages: 'chat',
  'count-tokens': 'chat',
  responses: 'chat',
  embeddings: 'embeddings',
};
