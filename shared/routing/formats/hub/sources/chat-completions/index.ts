// Chat completions as a source: a client of this interface on a model of any format.
import type { HubSource } from '../../middle/index.ts';
import { toHubCall } from './chat-call.ts';
import { openChunkWriter } from './write-chunks.ts';
import { writeCompletion } from './write-completion.ts';

export const chatSource: HubSource = async (body, nextStep, { open }) => ({
  call: await toHubCall(body, { open, nextStep }),
  writeAnswer: writeCompletion,
  openWriter: openChunkWriter,
});
