// Sends spans in batches, in the background, bounded. Spans that cannot be sent are dropped and counted in one log line
// a minute.
import { describeError, type Log } from '../log/index.ts';
import { type Clock, untilAborted, waitAtMost } from '../time/index.ts';
import type { Span } from './span.ts';

/** Time for which a span waits for others. */
const batchDelayMs = 5_000;
/** Number of spans that are sent at once, without waiting for more. */
const batchMax = 512;
/** Bound of waiting spans. Beyond this number the oldest spans are dropped. */
const waitingMax = 4_096;
/** Time limit for everything that one flush sends. */
export const flushMaxMs = 2_000;
/** Pause after a failure; each further failure doubles it. */
const pauseMinMs = 5_000;
const pauseMaxMs = 60_000;
const logIntervalMs = 60_000;

/**
 * Sends spans. `rejected` is the number of spans that the collector did not accept. Rejects if the spans did not
 * arrive.
 */
export type SendSpans = (spans: readonly Span[], signal: AbortSignal) => Promise<{ readonly rejected: number }>;

export interface SpanBatches {
  /** Queues spans in memory, synchronously. */
  add(spans: readonly Span[]): void;
  /** Sends the waiting spans, for at most `limitMs`. Never rejects. */
  flush(limitMs?: number): Promise<void>;
  /** Sends the waiting spans, even after a failure, and accepts none afterwards. Never rejects. */
  close(): Promise<void>;
}

interface SpanBatchesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly send: SendSpans;
}

/** Counts dropped spans, and logs the count at intervals. */
function createDropLog({
  clock,
  log,
}: Pick<SpanBatchesOptions, 'clock' | 'log'>): (count: number, why: string) => void {
  /** Spans dropped since the last line, and the reason for the last of them. */
  let dropped = { count: 0, why: '' };
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return (count, why) => {
    if (count > 0) dropped = { count: dropped.count + count, why };
    if (dropped.count === 0 || clock.nowMs() - loggedAtMs < logIntervalMs) return;
    loggedAtMs = clock.nowMs();
    log.error({ event: 'telemetry_not_sent', message: `${dropped.count} spans were dropped: ${dropped.why}` });
    dropped = { count: 0, why: '' };
  };
}

type Drop = ReturnType<typeof createDropLog>;

/** Sends one batch at a time, and none for a while after a failure. */
function createSender({ clock, send }: Pick<SpanBatchesOptions, 'clock' | 'send'>, drop: Drop) {
  let pauseMs = pauseMinMs;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  return {
    pausedMs: () => Math.max(0, pausedUntilMs - clock.nowMs()),
    /** Returns false if the batch was not sent. */
    async send(batch: readonly Span[], signal: AbortSignal): Promise<boolean> {
      try {
        // A request that hangs is abandoned, whether or not it reacts to the signal.
        const answer = await untilAborted(send(batch, signal), signal);
        if (answer === undefined) throw new Error('aborted');
        pauseMs = pauseMinMs;
        // This line also reports the spans that were dropped within the minute of the last line.
        drop(answer.rejected, 'the collector rejected them');
        return true;
      } catch (error) {
        drop(batch.length, signal.aborted ? 'the collector did not answer in time' : reasonOf(error));
        pausedUntilMs = clock.nowMs() + pauseMs;
        pauseMs = Math.min(2 * pauseMs, pauseMaxMs);
        return false;
      }
    },
  };
}

export function createSpanBatches({ clock, log, send }: SpanBatchesOptions): SpanBatches {
  const drop = createDropLog({ clock, log });
  const sender = createSender({ clock, send }, drop);
  let waiting: Span[] = [];
  let cancelTimer: (() => void) | undefined;
  let sending: Promise<void> | undefined;
  let isClosed = false;

  /** Sends batches, the oldest first, until one fails. Spans that arrive meanwhile wait for the next call. */
  async function sendOldest(count: number, limitMs: number): Promise<void> {
    const abort = new AbortController();
    const cancel = clock.after(limitMs, () => abort.abort());
    for (let remaining = count; remaining > 0 && waiting.length > 0 && !abort.signal.aborted; remaining -= batchMax) {
      const batch = waiting.slice(0, batchMax);
      waiting = waiting.slice(batchMax);
      if (!(await sender.send(batch, abort.signal))) break;
    }
    cancel();
  }

  function start(count: number, limitMs = flushMaxMs): void {
    cancelTimer?.();
    cancelTimer = undefined;
    sending = sendOldest(count, limitMs).finally(() => {
      sending = undefined;
      plan();
    });
  }

  /** Schedules the waiting spans. Full batches are sent at once, the rest later. */
  function plan(): void {
    if (waiting.length === 0 || sending !== undefined || isClosed) return;
    const pausedMs = sender.pausedMs();
    const inFullBatches = waiting.length - (waiting.length % batchMax);
    if (inFullBatches > 0 && pausedMs === 0) start(inFullBatches);
    else cancelTimer ??= clock.after(Math.max(batchDelayMs, pausedMs), () => start(waiting.length));
  }

  const canSend = (): boolean => waiting.length > 0 && (isClosed || sender.pausedMs() === 0);

  /** Sends all spans, including spans that arrive while it sends, because the process may be frozen afterwards. */
  async function flush(limitMs = flushMaxMs): Promise<void> {
    const endsAtMs = clock.nowMs() + limitMs;
    for (let leftMs = limitMs; leftMs > 0 && (sending !== undefined || canSend()); leftMs = endsAtMs - clock.nowMs()) {
      if (sending === undefined) start(waiting.length, leftMs);
      await waitAtMost(clock, leftMs, sending ?? Promise.resolve(), () => {});
    }
  }

  return {
    add(spans) {
      waiting.push(...spans);
      const excess = waiting.length - waitingMax;
      if (excess > 0) {
        waiting.splice(0, excess);
        drop(excess, `no more than ${waitingMax} wait`);
      }
      plan();
    },
    flush,
    close() {
      isClosed = true;
      cancelTimer?.();
      return flush();
    },
  };
}

/** Describes the failure in one line, because the stack of an unreachable collector's error adds nothing. */
function reasonOf(error: unknown): string {
  const { message, causes } = describeError(error);
  return causes === undefined ? message : `${message} (${causes})`;
}
