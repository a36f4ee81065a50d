import {
  type Draft,
  definedFields,
  exampleText,
  openAi,
  type PlaygroundInterface,
  pythonOf,
} from '../../playground/index.ts';
import { openTranscriptionFold } from './stream-fold.ts';

const python = pythonOf(openAi, {
  name: 'audio.transcriptions',
  streamed: `for event in answer:
    if event.type == "transcript.text.delta":
        print(event.delta, end="", flush=True)`,
  // The answer is text if `response_format` requests text.
  whole: 'print(getattr(answer, "text", answer))',
  arguments: ['model', 'prompt', 'language', 'response_format', 'temperature'],
});

export const playground: PlaygroundInterface = {
  title: 'Transcriptions',
  path: '/audio/transcriptions',
  hasStreams: false,
  hasTurns: false,
  file: { field: 'file', types: 'audio/*,video/*' },
  body: ({ model, more, ...draft }: Draft) => definedFields({ model, prompt: exampleText(draft), ...more }),
  readAnswer: ({ text }) => ({ text: String(text ?? '') }),
  openFold: openTranscriptionFold,
  python,
};
