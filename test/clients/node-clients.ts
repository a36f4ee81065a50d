import { aiSdk, aiSdkOpenai } from './ai-sdk-client.ts';
import { type ClientFormat, translatedFormats } from './client-gateway.ts';
import type { ClientConnection, ClientUnderTest } from './client-under-test.ts';
import { langchain } from './langchain-client.ts';
import { openaiAgents, openaiAgentsDefault } from './openai-agents-client.ts';
import { openaiClient } from './openai-client.ts';
import { openaiResponses } from './openai-responses-client.ts';

type Clients = Readonly<Record<string, (connection: ClientConnection) => ClientUnderTest>>;

/** Clients by their names in `results.ts`. */
export const chatClients: Clients = {
  openai: openaiClient,
  'AI SDK': aiSdk,
  'LangChain.js': langchain,
  '@openai/agents': openaiAgents,
};

export const responsesClients: Clients = {
  'openai, Responses': openaiResponses,
  'AI SDK, openai()': aiSdkOpenai,
  '@openai/agents, default': openaiAgentsDefault,
};

export const nodeClients: Clients = { ...chatClients, ...responsesClients };

/** The provider formats with which clients of chat completions and of Responses are tested. */
export const chatFormats: readonly ClientFormat[] = ['chat-completions', ...translatedFormats, 'responses'];
