// Repeats the failure of a read at once for a while. Requests without a valid key or token cause these reads, which
// would accumulate if a provider hangs.
import type { Clock } from '../../../shared/foundation/time/index.ts';

const failureFreshMs = 15_000;

export function rememberFailure<Value>(clock: Clock, read: () => Promise<Value>): () => Promise<Value> {
  let failure: { readonly error: unknown; readonly atMs: number } | undefined;
  return async () => {
    if (failure !== undefined && clock.nowMs() - failure.atMs < failureFreshMs) throw failure.error;
    try {
      return await read();
    } catch (error) {
      failure = { error, atMs: clock.nowMs() };
      throw error;
    }
  };
}
