// Lists the client interfaces with the routes and the folder of each interface. Everything else about an interface is
// in its folder. Interfaces that few clients use are loaded with their first call.
import {
  bedrockPaths,
  type googleOperations,
  headerNames,
  type InterfaceId,
  routePaths,
  type VendorBasePath,
} from '../../foundation/constants/index.ts';
import { chatCompletions } from '../interfaces/chat-completions/index.ts';
import type { ClientInterface } from '../interfaces/index.ts';
import { countTokens, loadInvoke, messages } from '../interfaces/messages/index.ts';
import type { RouteRules } from '../router/index.ts';

interface ListedInterface {
  /** Routes of its calls, the usual path first. */
  readonly routes: readonly ListedRoute[];
  readonly rules?: RouteRules;
  readonly load: () => Promise<ClientInterface>;
}

export interface ListedRoute {
  /** Base path; `all`: each base path of OpenAI's interfaces. */
  readonly base: 'all' | '/v1' | VendorBasePath;
  readonly path: string;
  /** Operation of the route, if the path names the model. */
  readonly operation?: string;
}

const belowAll = (path: string): readonly ListedRoute[] => [{ base: 'all', path }];
const belowV1 = (path: string): readonly ListedRoute[] => [{ base: '/v1', path }];

const messagesRules: RouteRules = {
  errorFormat: 'messages',
  foreignSessionId: headerNames.messagesSessionId,
  requestIdHeader: headerNames.messagesRequestId,
};

const bedrockRules: RouteRules = { errorFormat: 'aws', requestIdHeader: headerNames.amznRequestId };

const belowBedrock = (...routes: readonly (readonly [path: string, operation: string])[]): readonly ListedRoute[] =>
  routes.map(([path, operation]) => ({ base: '/bedrock', path, operation }));

const converse = () => import('../interfaces/converse/index.ts');

/** Returns the routes below a model. Google's SDKs call them at `/v1beta`, and from 3.0 on at `/v1`. */
const modelRoutes = (...operations: readonly (typeof googleOperations)[number][]): readonly ListedRoute[] =>
  operations.flatMap((operation) =>
    (['/v1beta', '/v1'] as const).map((base) => ({ base, path: `${routePaths.model}:${operation}`, operation })),
  );

const googleRules: RouteRules = { errorFormat: 'google' };

const gemini = () => import('../interfaces/generate-content/index.ts');
const responses = () => import('../interfaces/responses/index.ts');
const images = () => import('../interfaces/images/index.ts');

/** The interfaces in the sequence of the description. */
export const interfaceList: Readonly<Record<InterfaceId, ListedInterface>> = {
  'chat-completions': { routes: belowAll(routePaths.chatCompletions), load: async () => chatCompletions },
  messages: { routes: belowV1(routePaths.messages), rules: messagesRules, load: async () => messages },
  'count-tokens': {
    routes: belowV1(routePaths.countTokens),
    rules: messagesRules,
    load: async () => countTokens,
  },
  invoke: {
    routes: belowBedrock([bedrockPaths.invoke, 'invoke'], [bedrockPaths.invokeStream, 'invoke-with-response-stream']),
    rules: bedrockRules,
    load: loadInvoke,
  },
  responses: {
    routes: belowAll(routePaths.responses),
    rules: { foreignSessionId: headerNames.responsesSessionId },
    load: async () => (await responses()).responses,
  },
  'input-tokens': {
    routes: belowAll(routePaths.inputTokens),
    load: async () => (await responses()).inputTokens,
  },
  compact: { routes: belowAll(routePaths.compact), load: async () => (await responses()).compact },
  converse: {
    routes: belowBedrock([bedrockPaths.converse, 'converse'], [bedrockPaths.converseStream, 'converse-stream']),
    rules: bedrockRules,
    load: async () => (await converse()).converse,
  },
  'converse-tokens': {
    routes: belowBedrock([bedrockPaths.converseTokens, 'count-tokens']),
    rules: bedrockRules,
    load: async () => (await converse()).converseTokens,
  },
  'generate-content': {
    routes: modelRoutes('generateContent', 'streamGenerateContent'),
    rules: googleRules,
    load: async () => (await gemini()).generateContent,
  },
  'count-contents': {
    routes: modelRoutes('countTokens'),
    rules: googleRules,
    load: async () => (await gemini()).countContents,
  },
  'embed-content': {
    routes: modelRoutes('embedContent', 'batchEmbedContents'),
    rules: googleRules,
    load: async () => (await gemini()).embedContent,
  },
  embeddings: {
    routes: belowAll(routePaths.embeddings),
    load: async () => (await import('../interfaces/embeddings/index.ts')).embeddings,
  },
  images: { routes: belowAll(routePaths.imageGenerations), load: async () => (await images()).images },
  'image-edits': { routes: belowAll(routePaths.imageEdits), load: async () => (await images()).imageEdits },
  moderations: {
    routes: belowAll(routePaths.moderations),
    load: async () => (await import('../interfaces/moderations/index.ts')).moderations,
  },
  rerank: {
    routes: belowAll(routePaths.rerank),
    load: async () => (await import('../interfaces/rerank/index.ts')).rerank,
  },
  speech: {
    routes: belowAll(routePaths.speech),
    load: async () => (await import('../interfaces/speech/index.ts')).speech,
  },
  transcriptions: {
    routes: belowAll(routePaths.transcriptions),
    load: async () => (await import('../interfaces/transcriptions/index.ts')).transcriptions,
  },
};
