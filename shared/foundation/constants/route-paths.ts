/** The two base URLs of the interface: the same gateway, the second in OpenAI's error form. */
export const basePaths = ['/v1', '/openai/v1'] as const;
export type BasePath = (typeof basePaths)[number];

/** Paths below a base path, or below the first one alone. `*`: one more part, which may hold slashes. */
export const routePaths = {
  chatCompletions: '/chat/completions',
  messages: '/messages',
  countTokens: '/messages/count_tokens',
  responses: '/responses',
  embeddings: '/embeddings',
  models: '/models',
  model: '/models/*',
  key: '/key',
  credits: '/credits',
  generation: '/generation',
} as const;

/** Below the first base path: for operator keys. `*`: one part. */
export const managePaths = {
  session: '/manage/session',
  overview: '/manage/overview',
  calls: '/manage/calls',
  call: '/manage/calls/*',
  providers: '/manage/providers',
  models: '/manage/models',
  keys: '/manage/keys',
  key: '/manage/keys/*',
  rotateKey: '/manage/keys/*/rotate',
  workspaces: '/manage/workspaces',
  credits: '/manage/workspaces/*/credits',
  functions: '/manage/functions',
  enableFunction: '/manage/functions/*/*/enable',
  disableFunction: '/manage/functions/*/*/disable',
  activateFunction: '/manage/functions/*/*/activate',
} as const;

/** Paths of their own. */
export const rootPaths = {
  landing: '/',
  health: '/health',
  openapi: '/openapi.json',
  console: '/console',
  consoleFile: '/console/*',
} as const;
