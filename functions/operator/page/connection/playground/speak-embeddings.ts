import { askedText, type Draft, type PlaygroundInterface } from './draft.ts';
import { embeddingsPython } from './sdk-code.ts';

const shownNumbers = 8;

export const embeddings: PlaygroundInterface = {
  title: 'Embeddings',
  path: '/embeddings',
  hasStreams: false,
  hasTurns: false,
  body: ({ model, more, ...draft }: Draft) => ({ model, input: askedText(draft), encoding_format: 'float', ...more }),
  readAnswer: ({ data = [] }) => {
    const vector = (data[0]?.embedding ?? []) as readonly number[];
    return { text: `${vector.length} numbers: ${vector.slice(0, shownNumbers).join(', ')} …` };
  },
  readEvent: () => ({}),
  python: embeddingsPython,
};
