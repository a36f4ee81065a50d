import { askedText, type Draft, type PlaygroundInterface } from './draft.ts';
import { rerankPython } from './sdk-code.ts';

const shownResults = 10;

/** Without documents among the further fields each line of the message is one. */
export const rerank: PlaygroundInterface = {
  title: 'Rerank',
  path: '/rerank',
  hasStreams: false,
  hasTurns: false,
  body({ model, more, ...draft }: Draft) {
    const query = askedText(draft);
    return { model, query, documents: query.split('\n'), ...more };
  },
  readAnswer: ({ results = [] }) => ({ text: results.slice(0, shownResults).map(lineOf).join('\n') }),
  readEvent: () => ({}),
  python: rerankPython,
};

const lineOf = ({ index, relevance_score: score }: { readonly index: number; readonly relevance_score: number }) =>
  `${score.toFixed(3)}  document ${index}`;
