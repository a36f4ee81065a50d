import { askedText, type Draft, type PlaygroundInterface, said } from './draft.ts';
import { transcriptionsPython } from './sdk-code.ts';

export const transcriptions: PlaygroundInterface = {
  title: 'Transcriptions',
  path: '/audio/transcriptions',
  hasStreams: false,
  hasTurns: false,
  file: { field: 'file', types: 'audio/*,video/*' },
  body: ({ model, more, ...draft }: Draft) => said({ model, prompt: askedText(draft), ...more }),
  readAnswer: ({ text }) => ({ text: String(text ?? '') }),
  readEvent: ({ type, delta, error }) => {
    if (error) return { failure: { code: String(error.code), message: String(error.message) } };
    return type === 'transcript.text.delta' ? { text: String(delta) } : {};
  },
  python: transcriptionsPython,
};
