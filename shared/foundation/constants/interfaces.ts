interface Serving {
  readonly native: string;
  readonly throughHub: readonly string[];
  readonly countsOnly?: true;
  readonly widerApi?: string;
  readonly isAlwaysTranslated?: boolean;
  readonly apisByKind?: Readonly<Record<string, string>>;
}

const imageModels = { bedrock: 'converse', google: 'generate-content', vertex: 'generate-content' } as const;

/**
 * Client interfaces by their stored names, each with the provider interfaces that can serve it. Calls in the `native`
 * interface are relayed unchanged. For the other interfaces calls are translated; the interface that can express most
 * comes first. `widerApi`: a translated interface that can express more than the native interface.
 * `isAlwaysTranslated`: calls are translated even if an operator has switched translation off. `apisByKind`: kinds of
 * providers with a format of their own, each with the interface whose package writes that format. `countsOnly`: no
 * model runs, so nothing is reserved.
 */
export const servingApis = {
  'chat-completions': {
    native: 'chat-completions',
    throughHub: ['messages', 'responses', 'converse', 'generate-content'],
    widerApi: 'responses',
    isAlwaysTranslated: true,
  },
  messages: { native: 'messages', throughHub: ['responses', 'converse', 'generate-content', 'chat-completions'] },
  'count-tokens': {
    native: 'messages',
    throughHub: ['responses', 'converse', 'generate-content', 'chat-completions'],
    countsOnly: true,
  },
  invoke: { native: 'messages', throughHub: ['responses', 'converse', 'generate-content', 'chat-completions'] },
  responses: { native: 'responses', throughHub: ['messages', 'converse', 'generate-content', 'chat-completions'] },
  'input-tokens': {
    native: 'responses',
    throughHub: ['messages', 'converse', 'generate-content', 'chat-completions'],
    countsOnly: true,
  },
  compact: {
    native: 'responses',
    throughHub: ['messages', 'converse', 'generate-content', 'chat-completions'],
  },
  converse: { native: 'converse', throughHub: ['messages', 'responses', 'generate-content', 'chat-completions'] },
  'converse-tokens': {
    native: 'converse',
    throughHub: ['messages', 'responses', 'generate-content', 'chat-completions'],
    countsOnly: true,
  },
  'generate-content': {
    native: 'generate-content',
    throughHub: ['messages', 'responses', 'converse', 'chat-completions'],
  },
  'count-contents': {
    native: 'generate-content',
    throughHub: ['messages', 'responses', 'converse', 'chat-completions'],
    countsOnly: true,
  },
  'embed-content': {
    native: 'embeddings',
    throughHub: [],
    apisByKind: { bedrock: 'converse', google: 'generate-content', vertex: 'vertex' },
  },
  embeddings: {
    native: 'embeddings',
    throughHub: [],
    apisByKind: { bedrock: 'converse', google: 'generate-content', vertex: 'vertex' },
  },
  images: { native: 'images', throughHub: [], apisByKind: imageModels },
  'image-edits': { native: 'images', throughHub: [], apisByKind: imageModels },
  moderations: { native: 'moderations', throughHub: [] },
  speech: { native: 'speech', throughHub: [] },
  transcriptions: { native: 'transcriptions', throughHub: [] },
  rerank: { native: 'rerank', throughHub: [], apisByKind: { bedrock: 'converse' } },
} as const satisfies Readonly<Record<string, Serving>>;
export type InterfaceId = keyof typeof servingApis;
export const interfaceIds = Object.keys(servingApis) as readonly InterfaceId[];

type ApiOfKinds<One> = One extends { readonly apisByKind: Readonly<Record<string, infer Api>> } ? Api : never;
/**
 * Interfaces of providers to which calls of another interface are translated, and formats of single kinds of providers.
 */
export type HubApi =
  | (typeof servingApis)[InterfaceId]['throughHub'][number]
  | ApiOfKinds<(typeof servingApis)[InterfaceId]>;
/** Interfaces of providers, as the gateway file names them. */
export type ProviderApi = (typeof servingApis)[InterfaceId]['native'] | HubApi;
export const providerApis: readonly ProviderApi[] = [
  ...new Set(Object.values(servingApis).flatMap(({ native, throughHub }): ProviderApi[] => [native, ...throughHub])),
];

/** True if no model runs, so that nothing is reserved. */
export const countsOnly = (id: InterfaceId): boolean => 'countsOnly' in servingApis[id];

type ListedInterfaceId = (typeof servingApis)[InterfaceId]['native'];
/** Returns the name in the list of models, which is the name of the native provider interface. */
export const listedAs = (id: InterfaceId): ListedInterfaceId => servingApis[id].native;
export const listedInterfaceIds = [...new Set(interfaceIds.map(listedAs))];

/**
 * Listed interfaces that are not a conversation, so that their calls are never translated from one format to another.
 */
export const taskInterfaceIds: readonly ListedInterfaceId[] = listedInterfaceIds.filter(
  (id) => servingApis[id].throughHub.length === 0,
);

/** Media type of a stream of AWS's frames, which the gateway handles as text with one character per byte. */
export const frameStreamType = 'application/vnd.amazon.eventstream';

/**
 * Features that make a call more expensive than the prices of its provider entry: more expensive tiers, tools that the
 * provider runs itself, further models, longer windows. An operator who lists a feature in an entry is responsible for
 * the prices.
 */
export const extraNames = [
  'service_tier',
  'web_search',
  'plugins',
  'best_of',
  'file_search',
  'code_interpreter',
  'image_generation',
  'mcp',
  'web_fetch',
  'code_execution',
  'shell',
  'advisor',
  'fallbacks',
  'long_context',
  /** Output formats of images that cause several images, or another model. */
  'image_formats',
  /** A prompt that the provider stores, because only the provider knows its tools and other contents. */
  'prompt',
  /** A guardrail of the provider's account. */
  'guardrails',
  /** Tools of a type that the gateway does not know. */
  'other_tools',
] as const;
export type Extra = (typeof extraNames)[number];
