// The interfaces of clients: where each is asked, and its folder. Everything else about one is in that folder. Those that
// few clients use are loaded with their first call.
import { headerNames, type InterfaceId, routePaths } from '../../foundation/constants/index.ts';
import { chatCompletions } from '../interfaces/chat-completions/index.ts';
import type { ClientInterface } from '../interfaces/index.ts';
import { countTokens, messages } from '../interfaces/messages/index.ts';
import type { RouteRules } from '../router/index.ts';

interface ListedInterface {
  /** Below the base paths. */
  readonly path: string;
  /** False: below `/v1` alone. */
  readonly isBelowAll: boolean;
  readonly rules?: RouteRules;
  readonly load: () => Promise<ClientInterface>;
}

const messagesRules: RouteRules = {
  errorFormat: 'messages',
  foreignSessionId: headerNames.messagesSessionId,
  requestIdHeader: headerNames.messagesRequestId,
};

const responses = () => import('../interfaces/responses/index.ts');
const images = () => import('../interfaces/images/index.ts');

/** In the order of the description. */
export const interfaceList: Readonly<Record<InterfaceId, ListedInterface>> = {
  'chat-completions': { path: routePaths.chatCompletions, isBelowAll: true, load: async () => chatCompletions },
  messages: { path: routePaths.messages, isBelowAll: false, rules: messagesRules, load: async () => messages },
  'count-tokens': {
    path: routePaths.countTokens,
    isBelowAll: false,
    rules: messagesRules,
    load: async () => countTokens,
  },
  responses: {
    path: routePaths.responses,
    isBelowAll: true,
    rules: { foreignSessionId: headerNames.responsesSessionId },
    load: async () => (await responses()).responses,
  },
  'input-tokens': {
    path: routePaths.inputTokens,
    isBelowAll: true,
    load: async () => (await responses()).inputTokens,
  },
  compact: { path: routePaths.compact, isBelowAll: true, load: async () => (await responses()).compact },
  embeddings: {
    path: routePaths.embeddings,
    isBelowAll: true,
    load: async () => (await import('../interfaces/embeddings/index.ts')).embeddings,
  },
  images: { path: routePaths.imageGenerations, isBelowAll: true, load: async () => (await images()).images },
  'image-edits': { path: routePaths.imageEdits, isBelowAll: true, load: async () => (await images()).imageEdits },
  moderations: {
    path: routePaths.moderations,
    isBelowAll: true,
    load: async () => (await import('../interfaces/moderations/index.ts')).moderations,
  },
  rerank: {
    path: routePaths.rerank,
    isBelowAll: true,
    load: async () => (await import('../interfaces/rerank/index.ts')).rerank,
  },
  speech: {
    path: routePaths.speech,
    isBelowAll: true,
    load: async () => (await import('../interfaces/speech/index.ts')).speech,
  },
  transcriptions: {
    path: routePaths.transcriptions,
    isBelowAll: true,
    load: async () => (await import('../interfaces/transcriptions/index.ts')).transcriptions,
  },
};
