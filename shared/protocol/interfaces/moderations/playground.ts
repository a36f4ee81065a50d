import { type Draft, exampleText, openAi, type PlaygroundInterface, pythonOf } from '../../playground/index.ts';

const python = pythonOf(openAi, {
  name: 'moderations',
  streamed: '',
  whole: 'print(answer.results[0].model_dump_json(indent=2))',
  arguments: ['model', 'input'],
});

export const playground: PlaygroundInterface = {
  title: 'Moderations',
  path: '/moderations',
  hasStreams: false,
  hasTurns: false,
  body: ({ model, more, ...draft }: Draft) => ({ model, input: exampleText(draft), ...more }),
  readAnswer: ({ results = [] }) => ({ text: verdictOf(results[0]?.categories ?? {}) }),
  openFold: undefined,
  python,
};

function verdictOf(categories: Readonly<Record<string, unknown>>): string {
  const flagged = Object.keys(categories).filter((name) => categories[name] === true);
  return flagged.length === 0 ? 'Not flagged' : `Flagged: ${flagged.join(', ')}`;
}
