/**
 * Selects one call of `n` as the sample for all of them. The first is selected at random, so that calls of a process
 * that ends early are as likely as others.
 */
export function createEveryNth(n: number, { fraction }: { readonly fraction: () => number }): () => boolean {
  let left = Math.floor(fraction() * n);
  return () => {
    left -= 1;
    if (left >= 0) return false;
    left = n - 1;
    return true;
  };
}
