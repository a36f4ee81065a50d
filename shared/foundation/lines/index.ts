// Finds the lines in which two texts differ, in order, by their longest common subsequence.

interface ComparedLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Maximum number of lines, because the comparison's table grows with the product of both texts' lines. */
const linesMax = 2_000;

export function compareLines(left: readonly string[], right: readonly string[]): readonly ComparedLine[] {
  const all = (kind: ComparedLine['kind'], lines: readonly string[]) =>
    lines.map((text): ComparedLine => ({ kind, text }));
  if (left.length > linesMax || right.length > linesMax) return [...all('removed', left), ...all('added', right)];
  const common = commonLengths(left, right);
  const compared: ComparedLine[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    if (left[l] === right[r]) {
      compared.push({ kind: 'same', text: left[l] ?? '' });
      l += 1;
      r += 1;
    } else if ((common[l + 1]?.[r] ?? 0) >= (common[l]?.[r + 1] ?? 0)) {
      compared.push({ kind: 'removed', text: left[l] ?? '' });
      l += 1;
    } else {
      compared.push({ kind: 'added', text: right[r] ?? '' });
      r += 1;
    }
  }
  return [...compared, ...all('removed', left.slice(l)), ...all('added', right.slice(r))];
}

/** Returns how many lines are common from each pair of positions on. */
function commonLengths(left: readonly string[], right: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let l = left.length - 1; l >= 0; l -= 1) {
    const [row, below] = [lengths[l], lengths[l + 1]];
    if (row === undefined || below === undefined) continue;
    for (let r = right.length - 1; r >= 0; r -= 1) {
      row[r] = left[l] === right[r] ? (below[r + 1] ?? 0) + 1 : Math.max(below[r] ?? 0, row[r + 1] ?? 0);
    }
  }
  return lengths;
}

/** True if one of the texts contains the wanted text, in upper or lower case. */
export function hasText(wanted: string, texts: readonly (string | null | undefined)[]): boolean {
  const wantedInLowerCase = wanted.toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(wantedInLowerCase));
}
