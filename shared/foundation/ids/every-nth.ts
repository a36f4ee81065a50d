/**
 * Selects every `n`th call as a sample. The first sample is chosen at random, so that calls of a short-lived process
 * are as likely as others.
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
