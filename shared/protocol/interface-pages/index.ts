// Lists the interfaces for a page in a browser. Each entry is the part of an interface that writes a draft, reads the
// draft's answers, and reads stored bodies as turns. This module runs in browsers.
import type { TurnsOfBodies } from '../conversation/index.ts';
import { playground as chatCompletions } from '../interfaces/chat-completions/playground.ts';
import { chatTurns } from '../interfaces/chat-completions/turns.ts';
import { playground as converse } from '../interfaces/converse/playground.ts';
import { converseTurns } from '../interfaces/converse/turns.ts';
import { playground as embeddings } from '../interfaces/embeddings/playground.ts';
import { playground as generateContent } from '../interfaces/generate-content/playground.ts';
import { generatedTurns } from '../interfaces/generate-content/turns.ts';
import { playground as images } from '../interfaces/images/playground.ts';
import { playground as messages } from '../interfaces/messages/playground.ts';
import { messageTurns } from '../interfaces/messages/turns.ts';
import { playground as moderations } from '../interfaces/moderations/playground.ts';
import { playground as rerank } from '../interfaces/rerank/playground.ts';
import { playground as responses } from '../interfaces/responses/playground.ts';
import { responseTurns } from '../interfaces/responses/turns.ts';
import { playground as speech } from '../interfaces/speech/playground.ts';
import { playground as transcriptions } from '../interfaces/transcriptions/playground.ts';
import type { PlaygroundInterface } from '../playground/index.ts';

export const interfaces = {
  'chat-completions': chatCompletions,
  messages,
  responses,
  converse,
  'generate-content': generateContent,
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
  ['invoke', messageTurns],
  ['responses', responseTurns],
  ['converse', converseTurns],
  ['generate-content', generatedTurns],
]);

/** Finds the reader of turns by the name of an interface, or of a provider's format. */
export const turnsOf = (name: string): TurnsOfBodies | undefined => turns.get(name);
