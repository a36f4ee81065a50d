// Limits how long a provider may be silent before its first byte or output, and later between the parts of a JSON
// answer or the bytes of a stream. While a model thinks, the provider may be silent until the deadline.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { firstChunkTimeoutDefaultMs, reservePerCandidateMs } from '../../../shared/foundation/constants/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { Watch } from '../../../shared/routing/providers/index.ts';

/**
 * Time to wait for the end of the connection after the end marker of a stream, because some servers send more data
 * after the marker.
 */
const behindEndMaxMs = 1_000;

/**
 * Returns the limit for one candidate. Each candidate after it keeps at least 10 seconds, or an even share of less. The
 * last candidate has until the deadline.
 */
export function silenceLimitMs(remainingMs: number, behind: number): number {
  if (behind === 0) return Number.POSITIVE_INFINITY;
  return Math.max(remainingMs - behind * reservePerCandidateMs, remainingMs / (behind + 1));
}

interface SilenceRule {
  readonly provider: Pick<Candidate['provider'], 'first_chunk_timeout_ms' | 'idle_timeout_ms'>;
  readonly isStream: boolean;
  /** Infinite for the last candidate, which need not leave time for another candidate. */
  readonly limitMs: number;
}

export interface Silence {
  /** Called when the call is sent. */
  readonly begin: () => void;
  /** Called whenever a part of a JSON answer, or of an error, has arrived. */
  readonly partCame: () => void;
  /** Called when the first output of a stream has arrived. */
  readonly outputCame: () => void;
  /** Called at the first output other than thinking. From then on the provider's idle limit applies to every byte. */
  readonly answerCame: () => void;
  /**
   * Called at the end marker, which further data may follow. A stream that continues for longer is closed, whatever
   * else arrives meanwhile.
   */
  readonly endCame: () => void;
  /**
   * Yields the bytes of a stream. While their reader is busy the provider does not count as silent, however long the
   * reader takes.
   */
  readonly timed: (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
}

/** Ends the call's watch when a silence limit is exceeded. */
export function limitSilence(clock: Clock, watch: Watch, { provider, isStream, limitMs }: SilenceRule): Silence {
  const { first_chunk_timeout_ms: written, idle_timeout_ms: idleMs } = provider;
  // A JSON answer is silent until it is finished, and a limit on the last candidate saves time for no other candidate.
  // So only a limit that the operator wrote applies to it.
  const isDefaultBound = isStream && Number.isFinite(limitMs);
  const firstMs = Math.min(
    limitMs,
    written ?? (isDefaultBound ? firstChunkTimeoutDefaultMs : Number.POSITIVE_INFINITY),
  );
  let silentUntilMs = Number.POSITIVE_INFINITY;
  let isAnswering = false;
  /**
   * True while the reader waits for bytes. Some readers request the next bytes before they have used the last bytes.
   */
  let isAwaited = false;

  return {
    begin() {
      if (Number.isFinite(firstMs)) watch.expect('silent', firstMs);
      silentUntilMs = clock.nowMs() + limitMs;
    },
    // An answer that arrives in small parts is not complete, so the limit that keeps time for later candidates still
    // applies.
    partCame: () => watch.expect('idle', Math.min(idleMs, silentUntilMs - clock.nowMs())),
    outputCame: watch.pause,
    answerCame() {
      isAnswering = true;
      if (isAwaited) watch.expect('idle', idleMs);
    },
    // The watch cancels this timer, so it aborts nothing once the watch has finished.
    endCame: () => void clock.after(behindEndMaxMs, watch.abort),
    timed(body) {
      const bytes = body[Symbol.asyncIterator]();
      async function next(): Promise<IteratorResult<Uint8Array>> {
        if (isAnswering) watch.expect('idle', idleMs);
        isAwaited = true;
        const read = await bytes.next();
        isAwaited = false;
        // The answer may have begun in the meantime.
        if (isAnswering) watch.pause();
        return read;
      }
      // The iterator has no `return`, so that the rest is drained, not closed.
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
  };
}
