import { askedText, type Draft, type PlaygroundInterface } from './draft.ts';
import { moderationsPython } from './sdk-code.ts';

export const moderations: PlaygroundInterface = {
  title: 'Moderations',
  path: '/moderations',
  hasStreams: false,
  hasTurns: false,
  body: ({ model, more, ...draft }: Draft) => ({ model, input: askedText(draft), ...more }),
  readAnswer: ({ results = [] }) => ({ text: verdictOf(results[0]?.categories ?? {}) }),
  readEvent: () => ({}),
  python: moderationsPython,
};

function verdictOf(categories: Readonly<Record<string, unknown>>): string {
  const flagged = Object.keys(categories).filter((name) => categories[name] === true);
  return flagged.length === 0 ? 'Not flagged' : `Flagged: ${flagged.join(', ')}`;
}
