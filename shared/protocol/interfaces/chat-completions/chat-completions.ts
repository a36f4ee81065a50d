// The interface of chat completions, the one with presets, schemas of answers and stored functions.
import { answerMaxBytes, type ClientInterface, type EventReader, namesFunction } from '../index.ts';
import { gatewayMembers, leftOutOfCacheKey } from './gateway-members.ts';
import { readJsonAnswer, readStreamChunk } from './provider-answer.ts';
import { readChatRequest } from './read-chat-request.ts';
import { readFunctionRequest } from './read-function-request.ts';
import { doneText } from './stream-ending.ts';

export const chatCompletions: ClientInterface = {
  id: 'chat-completions',
  upstreamPath: '/chat/completions',
  gatewayMembers,
  schemaMember: 'response_format',
  callsFunctions: true,
  acceptsApiKeyHeader: false,
  passedHeaders: [],
  passesQuery: false,
  measuresProviders: true,
  routeRules: {},
  readRequest: (body, reading) => (namesFunction(body) ? readFunctionRequest(body, reading) : readChatRequest(body)),
  leftOutOfCacheKey,
  answerMaxBytes,
  readAnswer: readJsonAnswer,
  openEventReader: openChunkReader,
};

/** A stream is complete where every choice has finished, with or without its end marker. */
function openChunkReader(choices: number): EventReader {
  const finished = new Map<number, boolean>();
  return {
    read({ text }) {
      if (text.trim() === doneText) return { kind: 'end' };
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
