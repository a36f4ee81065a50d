import { cohere, type Draft, exampleText, type PlaygroundInterface, pythonOf } from '../../playground/index.ts';

const shownResults = 10;

/** Writes the call. If the further fields have no documents, each line of the message is a document. */
const python = pythonOf(cohere, {
  name: 'rerank',
  streamed: '',
  whole: `for result in answer.results:
    print(result.relevance_score, result.index)`,
  arguments: ['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc'],
});

export const playground: PlaygroundInterface = {
  title: 'Rerank',
  path: '/rerank',
  hasStreams: false,
  hasTurns: false,
  body({ model, more, ...draft }: Draft) {
    const query = exampleText(draft);
    return { model, query, documents: query.split('\n'), ...more };
  },
  readAnswer: ({ results = [] }) => ({ text: results.slice(0, shownResults).map(lineOf).join('\n') }),
  openFold: undefined,
  python,
};

const lineOf = ({ index, relevance_score: score }: { readonly index: number; readonly relevance_score: number }) =>
  `${score.toFixed(3)}  document ${index}`;
