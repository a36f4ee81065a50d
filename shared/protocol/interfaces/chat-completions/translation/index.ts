// Translates chat completions, so that a client of this interface can use a model of any format.

import { eventsByPart, type HubSource, type SourceCall } from '../../../hub/index.ts';
import type { AnswerEvent } from '../../../wire/index.ts';
import { writtenChunk } from '../provider-answer.ts';
import { openHubCall } from './chat-call.ts';
import { foldCompletion } from './fold-completion.ts';
import { type Chunk, openChunks } from './write-chunks.ts';

export const chatSource: HubSource = (body, { open }) => {
  const { read, end } = openHubCall(body, open);
  return { conversation: body.messages, read, end: () => ({ call: end(), ...writers }) };
};

const writers: Omit<SourceCall, 'call'> = {
  openWriter: (head) =>
    eventsByPart<AnswerEvent>((add) =>
      openChunks(head, (chunk, beginsThinking) => add(writtenChunk({ ...chunk }, beginsThinking))),
    ),
  openFold(head) {
    const { add, answer } = foldCompletion();
    const write = eventsByPart<Chunk>((give) =>
      openChunks(head, (chunk) => {
        add(chunk);
        give(chunk);
      }),
    );
    return { write, answer };
  },
};
