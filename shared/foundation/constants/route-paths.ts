/** The two base paths of the interface. Both are the same gateway, but the second has errors in OpenAI's format. */
export const basePaths = ['/v1', '/openai/v1'] as const;
/** Base paths of the interfaces of other vendors, which name the model in the path. */
export const vendorBasePaths = ['/v1beta', '/bedrock'] as const;
export type VendorBasePath = (typeof vendorBasePaths)[number];
export type BasePath = (typeof basePaths)[number] | VendorBasePath;

/**
 * Paths below a base path, or below `/v1` alone. `*` matches one segment; `**` matches one or more segments, slashes
 * included, up to the literal text after it.
 */
export const routePaths = {
  chatCompletions: '/chat/completions',
  messages: '/messages',
  countTokens: '/messages/count_tokens',
  responses: '/responses',
  inputTokens: '/responses/input_tokens',
  compact: '/responses/compact',
  response: '/responses/*',
  cancelResponse: '/responses/*/cancel',
  inputItems: '/responses/*/input_items',
  embeddings: '/embeddings',
  imageGenerations: '/images/generations',
  imageEdits: '/images/edits',
  moderations: '/moderations',
  rerank: '/rerank',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  models: '/models',
  model: '/models/**',
  key: '/key',
  credits: '/credits',
  generation: '/generation',
} as const;

/** Operations that Google's clients name after a model and a colon, below `/v1beta` and `/v1`. */
export const googleOperations = [
  'generateContent',
  'streamGenerateContent',
  'countTokens',
  'embedContent',
  'batchEmbedContents',
] as const;

/** Paths below `/bedrock`. */
export const bedrockPaths = {
  converse: '/model/**/converse',
  converseStream: '/model/**/converse-stream',
  converseTokens: '/model/**/count-tokens',
  invoke: '/model/**/invoke',
  invokeStream: '/model/**/invoke-with-response-stream',
  inferenceProfiles: '/inference-profiles',
} as const;

/**
 * Base paths that are assumed for these paths, and for all paths below them. Clients whose base URL ends too early
 * request such paths.
 */
export const barePaths: Readonly<Record<string, BasePath>> = {
  [routePaths.chatCompletions]: '/openai/v1',
  [routePaths.responses]: '/openai/v1',
  [routePaths.embeddings]: '/openai/v1',
  [routePaths.imageGenerations]: '/openai/v1',
  [routePaths.imageEdits]: '/openai/v1',
  [routePaths.moderations]: '/openai/v1',
  [routePaths.rerank]: '/openai/v1',
  [routePaths.speech]: '/openai/v1',
  [routePaths.transcriptions]: '/openai/v1',
  [routePaths.models]: '/openai/v1',
  [routePaths.messages]: '/v1',
};

/**
 * Paths of calls that people copy together with the base URL of a provider. The base URLs of some providers end in
 * `/models`.
 */
export const calledPaths: readonly string[] = Object.keys(barePaths).filter((path) => path !== routePaths.models);

/** Paths of the OpenAI and Anthropic interfaces that the gateway does not offer, with all paths below. */
export const notOffered: readonly string[] = [
  '/images',
  '/audio',
  '/completions',
  '/complete',
  '/files',
  '/uploads',
  '/batches',
  '/messages/batches',
  '/responses',
  '/chat/completions',
  '/conversations',
  '/fine_tuning',
  '/assistants',
  '/threads',
  '/vector_stores',
  '/containers',
  '/realtime',
  '/videos',
  '/evals',
  '/skills',
  '/organizations',
  '/organization',
];

/** Paths outside the base paths. */
export const rootPaths = {
  landing: '/',
  health: '/health',
  /** Coding agents request this path to check whether anything answers. */
  hello: '/api/hello',
  openapi: '/openapi.json',
  console: '/console',
  consoleFile: '/console/**',
} as const;
