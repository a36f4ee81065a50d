import type { Draft, PlaygroundInterface } from './draft.ts';
import { embeddingsPython } from './sdk-code.ts';

const shownNumbers = 8;

export const embeddings: PlaygroundInterface = {
  title: 'Embeddings',
  path: '/embeddings',
  hasStreams: false,
  body: ({ model, turns, more }: Draft) => {
    const last = turns.findLast(({ role }) => role === 'user');
    return { model, input: last?.role === 'user' ? last.text : '', encoding_format: 'float', ...more };
  },
  readAnswer: ({ data = [] }) => {
    const vector = (data[0]?.embedding ?? []) as readonly number[];
    return { text: `${vector.length} numbers: ${vector.slice(0, shownNumbers).join(', ')} …` };
  },
  readEvent: () => ({}),
  python: embeddingsPython,
};
