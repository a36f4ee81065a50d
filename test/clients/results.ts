// What the tests measured for each client, by the names that the tests use. Rows `…, Responses`, `…, default`, `AI SDK,
// openai()` and `pydantic-ai, openai:` call Responses, the others chat completions. `AI SDK` is
// `createOpenAICompatible`. Each suite of this folder compares its rows with what it measures.
import { type ClientFormat, formats } from './client-gateway.ts';
import { type ErrorKind, errorKinds } from './error-kinds.ts';

type ErrorText = 'code and message' | 'code' | 'message' | 'status alone';

interface LibraryResult {
  /** The place at which the library shows the cost of an answer; undefined if it shows none. */
  readonly cost: string | undefined;
  /** The parts of an error that its text shows, by base URL. */
  readonly reads: Readonly<Record<'/openai/v1' | '/v1', ErrorText>>;
}

const library = (cost: string | undefined, belowOpenAi: ErrorText, belowV1: ErrorText): LibraryResult => ({
  cost,
  reads: { '/openai/v1': belowOpenAi, '/v1': belowV1 },
});

export const libraryResults: Readonly<Record<string, LibraryResult>> = {
  openai: library('usage.cost', 'message', 'code'),
  'AI SDK': library('usage.raw.cost', 'message', 'status alone'),
  'LangChain.js': library('response_metadata.usage.cost', 'message', 'code'),
  '@openai/agents': library('rawResponses[0].providerData.usage.cost', 'message', 'code'),
  'openai, Responses': library('usage.cost', 'message', 'code'),
  'AI SDK, openai()': library('usage.raw.cost', 'message', 'status alone'),
  '@openai/agents, default': library('rawResponses[0].providerData.usage.cost', 'message', 'code'),
  'openai (Python)': library('usage.model_extra["cost"]', 'message', 'status alone'),
  'openai 2 (Python)': library('usage.model_extra["cost"]', 'code and message', 'code and message'),
  'langchain-openai': library('response_metadata["token_usage"]["cost"]', 'message', 'status alone'),
  'pydantic-ai': library(undefined, 'code and message', 'code'),
  'openai-agents': library(undefined, 'message', 'status alone'),
  litellm: library('usage.cost', 'message', 'code and message'),
  'llama-index': library('raw.usage.model_extra["cost"]', 'code and message', 'code and message'),
  instructor: library('usage.model_extra["cost"]', 'code and message', 'code and message'),
};

/**
 * The number of requests for one failing call with the library's defaults: refused for good, failed for good, may
 * succeed later.
 */
type RequestCounts = readonly [refused: number, failed: number, later: number];

const requestCounts: readonly (readonly [counts: RequestCounts, clients: readonly string[]])[] = [
  [
    [1, 1, 3],
    [
      'openai',
      'openai, Responses',
      '@openai/agents',
      '@openai/agents, default',
      'openai (Python)',
      'openai 2 (Python)',
      'langchain-openai',
    ],
  ],
  [
    [1, 1, 3],
    ['pydantic-ai', 'pydantic-ai, openai:', 'openai-agents', 'openai-agents, default', 'litellm', 'instructor'],
  ],
  [
    [1, 1, 3],
    ['AI SDK, gatewayFetch', 'AI SDK, openai(), gatewayFetch'],
  ],
  [
    [1, 3, 3],
    ['AI SDK', 'AI SDK, openai()'],
  ],
  [[1, 1, 7], ['LangChain.js, onFailedAttempt']],
  [[1, 7, 7], ['LangChain.js']],
  [[1, 1, 2], ['llama-index, max_retries=1']],
  [[1, 3, 12], ['llama-index']],
];

const countOf = ([refusals, failed, later]: RequestCounts, { title, isFinal }: ErrorKind): number => {
  if (!isFinal) return later;
  return /\((400|401|402)\)$/.test(title) ? refusals : failed;
};

/**
 * The number of requests by client, one cell for each kind in the order of `errorKinds`, the same on both base URLs.
 */
export const requestResults: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  requestCounts.flatMap(([counts, clients]) => {
    const cells = errorKinds.map((kind) => countOf(counts, kind)).map((count) => `${count} → ${count}`);
    return clients.map((client) => [client, cells] as const);
  }),
);

const chatFormats = ['chat-completions', 'messages', 'converse', 'generate-content', 'responses'] as const;

const clientsOfEveryFormat = [
  'openai',
  'AI SDK',
  'LangChain.js',
  '@openai/agents',
  'openai, Responses',
  'AI SDK, openai()',
  '@openai/agents, default',
  '@anthropic-ai/sdk',
  'Claude Code',
  'Codex',
  'Gemini CLI',
  '@google/genai',
  'openai (Python)',
  'openai 2 (Python)',
  'langchain-openai',
  'pydantic-ai',
  'pydantic-ai, openai:',
  'openai-agents',
  'openai-agents, default',
  'litellm',
  'llama-index',
  'instructor',
  'anthropic (Python)',
];

const servedFormats = (servedOnes: readonly ClientFormat[]): Readonly<Record<string, 'yes' | 'no'>> =>
  Object.fromEntries(formats.map((format) => [format, servedOnes.includes(format) ? 'yes' : 'no']));

/** Whether a client is answered, by client and provider format. */
export const formatResults: Readonly<Record<string, Readonly<Record<string, 'yes' | 'no'>>>> = {
  ...Object.fromEntries(clientsOfEveryFormat.map((client) => [client, servedFormats(chatFormats)])),
  'openai, Embeddings': servedFormats(['embeddings']),
};

/** The signed reasoning that a client sends back with the results of tools, by client and maker of the model. */
export const thinkingResults: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  openai: { 'Claude (messages, converse)': 'no', 'Gemini (generate-content)': 'no' },
  'openai, the message as it came': {
    'Claude (messages, converse)': 'yes, not of a stream',
    'Gemini (generate-content)': 'yes',
  },
  'AI SDK': { 'Claude (messages, converse)': 'no', 'Gemini (generate-content)': 'yes' },
  'LangChain.js': { 'Claude (messages, converse)': 'no', 'Gemini (generate-content)': 'no' },
  '@openai/agents': { 'Claude (messages, converse)': 'no', 'Gemini (generate-content)': 'yes, not of a stream' },
  'openai (Python), the message as it came': {
    'Claude (messages, converse)': 'yes',
    'Gemini (generate-content)': 'yes',
  },
  'openai 2 (Python), the message as it came': {
    'Claude (messages, converse)': 'yes',
    'Gemini (generate-content)': 'yes',
  },
};

/** The number of passed cases by public suite (llm-comply 0.5.0, PyPI) and format. */
export const complianceResults: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'openai-chat': {
    messages: '9 of 9',
    responses: '9 of 9',
    converse: '9 of 9',
    'generate-content': '9 of 9',
    'chat-completions': 'relayed',
  },
  anthropic: {
    messages: 'relayed',
    responses: '9 of 9',
    converse: '9 of 9',
    'generate-content': '9 of 9',
    'chat-completions': '9 of 9',
  },
  'open-responses': {
    messages: '12 of 13',
    responses: 'relayed',
    converse: '12 of 13',
    'generate-content': '12 of 13',
    'chat-completions': '12 of 13',
  },
};

/** Returns which parts of an error are in the text that a library shows. */
export function readsAs(text: string, { code, says }: ErrorKind): ErrorText {
  const hasMessage = text.includes(says);
  if (text.includes(code)) return hasMessage ? 'code and message' : 'code';
  return hasMessage ? 'message' : 'status alone';
}
