import type { EventFold } from '../../event-folds/index.ts';
import { type Draft, exampleText, openAi, type PlaygroundInterface, pythonOf } from '../../playground/index.ts';

/** Writes the call with events, whose audio is text, because the page cannot show bytes. */
const python = pythonOf(openAi, {
  name: 'audio.speech',
  streamed: '',
  whole: 'print(len(answer.read()), "bytes")',
  arguments: ['model', 'input', 'voice', 'response_format', 'stream_format'],
});

export const playground: PlaygroundInterface = {
  title: 'Speech',
  path: '/audio/speech',
  hasStreams: false,
  hasTurns: false,
  body: ({ model, more, ...draft }: Draft) => ({
    model,
    input: exampleText(draft),
    voice: 'alloy',
    stream_format: 'sse',
    ...more,
  }),
  readAnswer: ({ bytes = 0 }) => ({ text: `${bytes} bytes of audio` }),
  openFold: openByteCount,
  python,
};

/** Opens a fold that counts bytes, because the page cannot show them. */
function openByteCount(): EventFold {
  let bytes = 0;
  return {
    add({ type, audio }) {
      if (type === 'speech.audio.delta') bytes += atob(String(audio)).length;
    },
    answer: () => ({ bytes }),
  };
}
