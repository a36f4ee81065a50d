// Chat completions as a source: a client of this interface on a model of any format.

import { eventsByPart, type HubSource } from '../../../hub/index.ts';
import type { AnswerEvent } from '../../../wire/index.ts';
import { writtenChunk } from '../provider-answer.ts';
import { toHubCall } from './chat-call.ts';
import { foldCompletion } from './fold-completion.ts';
import { type Chunk, openChunks } from './write-chunks.ts';

export const chatSource: HubSource = async (body, nextStep, { open }) => ({
  call: await toHubCall(body, { open, nextStep }),
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
});
