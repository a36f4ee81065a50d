// What a page in a browser takes of the interfaces: how each writes a draft and reads its answers, and how kept bodies are
// read as turns. Runs in browsers.
import type { TurnsOfBodies } from '../conversation/index.ts';
import { playground as chatCompletions, chatTurns } from '../interfaces/chat-completions/index.ts';
import { playground as embeddings } from '../interfaces/embeddings/index.ts';
import { playground as images } from '../interfaces/images/index.ts';
import { playground as messages, messageTurns } from '../interfaces/messages/index.ts';
import { playground as moderations } from '../interfaces/moderations/index.ts';
import { playground as rerank } from '../interfaces/rerank/index.ts';
import { playground as responses, responseTurns } from '../interfaces/responses/index.ts';
import { playground as speech } from '../interfaces/speech/index.ts';
import { playground as transcriptions } from '../interfaces/transcriptions/index.ts';
import type { PlaygroundInterface } from '../playground/index.ts';

export const interfaces = {
  'chat-completions': chatCompletions,
  messages,
  responses,
  embeddings,
  images,
  moderations,
  rerank,
  speech,
  transcriptions,
} as const satisfies Record<string, PlaygroundInterface>;

export type InterfaceName = keyof typeof interfaces;
export const interfaceNames = Object.keys(interfaces) as InterfaceName[];

const turns: ReadonlyMap<string, TurnsOfBodies> = new Map([
  ['chat-completions', chatTurns],
  ['messages', messageTurns],
  ['responses', responseTurns],
]);

/** By the name of an interface, or of a format of a provider. */
export const turnsOf = (name: string): TurnsOfBodies | undefined => turns.get(name);
