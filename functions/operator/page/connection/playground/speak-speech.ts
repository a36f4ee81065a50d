import { askedText, type Draft, type PlaygroundInterface } from './draft.ts';
import { speechPython } from './sdk-code.ts';

/** As events, whose audio is text: a page that knows no bytes can show them. */
export const speech: PlaygroundInterface = {
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
  python: speechPython,
};
