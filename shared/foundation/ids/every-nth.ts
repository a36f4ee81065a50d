/**
 * Says of one of `n` that it counts, for all of them. The first is any of them: what is asked once in a process that ends early
 * counts as likely as all else.
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
