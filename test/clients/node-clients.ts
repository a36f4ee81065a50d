import { aiSdk, aiSdkOpenai } from './ai-sdk-client.ts';
import { type ClientFormat, translatedFormats } from './client-gateway.ts';
import type { ClientConnection, ClientUnderTest } from './client-under-test.ts';
import { langchain } from './langchain-client.ts';
import { openaiAgents, openaiAgentsDefault } from './openai-agents-client.ts';
import { openaiClient } from './openai-client.ts';
import { openaiResponses } from './openai-responses-client.ts';

type Clients = Readonly<Record<string, (connection: ClientConnection) => ClientUnderTest>>;

/** By the names that `results.ts` gives them. */
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

/** Provider formats that clients of chat completions and of Responses are tried with. */
export const chatFormats: readonly ClientFormat[] = ['chat-completions', ...translatedFormats, 'responses'];
