/**
 * Selects one call of `n` as the sample for all of them. The first is selected at random, so that calls of a process
 * that ends early are as likely as any other.
 */
export function createEveryNth(n: number, { fraction }: { readonly fraction: () => number }): () => boolean {
  let countdown = Math.floor(fraction() * n);
  return () => {
    countdown -= 1;
    if (countdown >= 0) return false;
    countdown = n - 1;
    return true;
  };
}
