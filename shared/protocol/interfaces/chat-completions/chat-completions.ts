// Defines the interface of chat completions, the only one with presets, schemas of answers and stored functions.
import { GatewayError } from '../../../errors/index.ts';
import { functionBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { type EventReader, isEndMarker, type JsonText, parseJson } from '../../wire/index.ts';
import {
  answerMaxBytes,
  type ClientInterface,
  credentialPlaces,
  membersOf,
  namesFunction,
  orFault,
  type RequestReading,
  readMembers,
} from '../index.ts';
import type { ChatRequest } from './chat-request.ts';
import { gatewayMembers, leftOutOfCacheKey } from './gateway-members.ts';
import { readJsonAnswer, readStreamChunk } from './provider-answer.ts';
import { readChatRequest } from './read-chat-request.ts';

export const chatCompletions: ClientInterface = {
  id: 'chat-completions',
  telemetryOperation: 'chat',
  upstreamPath: () => '/chat/completions',
  gatewayMembers,
  schemaMember: 'response_format',
  takesLong: false,
  callsFunctions: true,
  credentialPlace: credentialPlaces.bearer,
  passedHeaders: [],
  passesQuery: false,
  readRequest: (body, reading) => (namesFunction(body) ? readFunctionRequest(body, reading) : readChatRequest(body)),
  leftOutOfCacheKey,
  answerMaxBytes,
  readAnswer: readJsonAnswer,
  openEventReader: openChunkReader,
  formFields: undefined,
  measureForm: undefined,
  seldomOffered: undefined,
  repairWords: undefined,
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  translation: async () => (await import('./translation/index.ts')).chatSource,
  packageModels: undefined,
  // Other hosts of chat completions may not know the field for cache marks.
  cacheMarks: { kinds: ['openrouter'], onTools: false },
};

/** Opens a reader. A stream is complete if every choice has finished, with or without its end marker. */
function openChunkReader(choices: number): EventReader {
  const finished = new Map<number, boolean>();
  return {
    read({ text }) {
      if (isEndMarker(text)) return { kind: 'end' };
      const chunk = readStreamChunk(text);
      if (chunk === undefined) return { kind: 'unreadable' };
      const { details } = chunk;
      if (details.error !== undefined) return { kind: 'error', error: details.error };
      for (const choice of details.choices) {
        finished.set(choice.index, choice.finished || (finished.get(choice.index) ?? false));
      }
      return { kind: 'event', event: chunk };
    },
    isComplete: () => finished.size >= choices && [...finished.values()].every((isFinished) => isFinished),
  };
}

// The body of a function call. Only the fields that a function does not fix are checked here, because any other field
// is invalid_function_request, whatever its type.

/** Fields that are checked. In a body that is too large, the faults of these fields are reported first. */
const checkedMembers = {
  names: new Set(['model', 'messages']),
  shapes: { messages: { items: membersOf({ role: {} }) } },
  indivisible: new Set<string>(),
};

const readFunctionRequest = (json: JsonText, reading: RequestReading): ChatRequest | GatewayError =>
  orFault(() => read(json, reading));

function read(json: JsonText, { bodyBytes, dropsUnusedFields }: RequestReading): ChatRequest | GatewayError {
  const isWithinSize = bodyBytes <= functionBodyMaxBytes;
  const raw = isWithinSize ? (parseJson(json.text) as Record<string, unknown>) : readMembers(json, checkedMembers);
  const { model, messages } = raw;
  const request = readChatRequest({ model, messages });
  if (request instanceof GatewayError) return request;
  if (!dropsUnusedFields) return { ...request, raw };
  const unusedFields = new Set(Object.keys(raw).filter((name) => isIdle(name, raw[name])));
  const otherMembers = Object.entries(raw).filter(([name]) => !unusedFields.has(name));
  return { ...request, raw: Object.fromEntries(otherMembers), unusedFields };
}

/** Fields that frameworks always send and that have no effect. */
const idle: Readonly<Record<string, (value: unknown) => boolean>> = {
  stream: (value) => value === false,
  n: (value) => value === 1,
  tools: (value) => Array.isArray(value) && value.length === 0,
  store: (value) => value === false,
  parallel_tool_calls: () => true,
};

const isIdle = (name: string, value: unknown): boolean =>
  value === null || (Object.hasOwn(idle, name) && idle[name]?.(value) === true);
