// The texts of two revisions as one, with the lines that only the first has, or only the second.
import { compareLines } from '../../../../shared/foundation/lines/index.ts';

const marks = { same: ' ', removed: '−', added: '+' } as const;

export const RevisionText = ({
  left = '',
  right = '',
}: {
  readonly left?: string | undefined;
  readonly right?: string | undefined;
}) => {
  const lines = compareLines(left.trimEnd().split('\n'), right.trimEnd().split('\n'));
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
