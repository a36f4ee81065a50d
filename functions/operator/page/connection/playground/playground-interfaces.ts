// The interfaces of the playground: how each writes a draft, and reads its answers. To add one, add a row of the table.

import type { PlaygroundInterface } from './draft.ts';
import { chatCompletions } from './speak-chat-completions.ts';
import { embeddings } from './speak-embeddings.ts';
import { images } from './speak-images.ts';
import { messages } from './speak-messages.ts';
import { moderations } from './speak-moderations.ts';
import { rerank } from './speak-rerank.ts';
import { responses } from './speak-responses.ts';
import { speech } from './speak-speech.ts';
import { transcriptions } from './speak-transcriptions.ts';

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
