import { type Draft, exampleText, openAi, type PlaygroundInterface, pythonOf } from '../../playground/index.ts';

const shownNumbers = 8;

const python = pythonOf(openAi, {
  name: 'embeddings',
  streamed: '',
  whole: 'print(len(answer.data[0].embedding))',
  arguments: ['model', 'input', 'encoding_format'],
});

export const playground: PlaygroundInterface = {
  title: 'Embeddings',
  path: '/embeddings',
  hasStreams: false,
  hasTurns: false,
  body: ({ model, more, ...draft }: Draft) => ({ model, input: exampleText(draft), encoding_format: 'float', ...more }),
  readAnswer: ({ data = [] }) => {
    const vector = (data[0]?.embedding ?? []) as readonly number[];
    return { text: `${vector.length} numbers: ${vector.slice(0, shownNumbers).join(', ')} …` };
  },
  openFold: undefined,
  python,
};
