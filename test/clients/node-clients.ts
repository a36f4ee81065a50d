import { aiSdk } from './ai-sdk-client.ts';
import type { ClientUnderTest, Connection } from './client-under-test.ts';
import { langchain } from './langchain-client.ts';
import { openaiAgents } from './openai-agents-client.ts';
import { openaiClient } from './openai-client.ts';

/** By the names that the README gives them. */
export const nodeClients: Readonly<Record<string, (connection: Connection) => ClientUnderTest>> = {
  openai: openaiClient,
  'AI SDK': aiSdk,
  'LangChain.js': langchain,
  '@openai/agents': openaiAgents,
};
