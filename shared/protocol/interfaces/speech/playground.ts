import { askedText, type Draft, openAi, type PlaygroundInterface, pythonOf } from '../../playground/index.ts';

/** As events, whose audio is text: a page that knows no bytes can show them. */
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
    input: askedText(draft),
    voice: 'alloy',
    stream_format: 'sse',
    ...more,
  }),
  readAnswer: () => ({}),
  readEvent: ({ type, audio, error }) => {
    if (error) return { failure: { code: String(error.code), message: String(error.message) } };
    return type === 'speech.audio.delta' ? { text: `${atob(String(audio)).length} bytes of audio\n` } : {};
  },
  python,
};
