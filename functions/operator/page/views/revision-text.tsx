// The texts of two revisions as one: what only the first has, and what only the second.
import { compareLines, contentLines } from '../../../../shared/foundation/lines/index.ts';

type Content = Readonly<Record<string, unknown>>;

const marks = { same: ' ', removed: '−', added: '+' } as const;

export const RevisionText = ({
  left = {},
  right = {},
}: {
  readonly left?: Content | undefined;
  readonly right?: Content | undefined;
}) => {
  const lines = compareLines(contentLines(left), contentLines(right));
  return (
    <pre class="compared">
      {lines.map(({ kind, text }, at) => (
        <span key={at} class={kind}>
          {marks[kind]} {text}
          {'\n'}
        </span>
      ))}
    </pre>
  );
};
