// Spans that wait to be sent: together, in the background, bounded. What cannot be sent is dropped and counted, and costs
// one log line a minute.
import { describeError, type Log } from '../log/index.ts';
import { type Clock, untilAborted, waitAtMost } from '../time/index.ts';
import type { Span } from './span.ts';

/** How long a span waits for others. */
const batchDelayMs = 5_000;
/** So many are sent at once, without waiting for more. */
const batchMax = 512;
/** Beyond them the oldest are dropped. */
const waitingMax = 4_096;
/** For everything that one flush sends. */
export const flushMaxMs = 2_000;
/** After a failure nothing is sent for so long: each further failure doubles it. */
const pauseMinMs = 5_000;
const pauseMaxMs = 60_000;
const logIntervalMs = 60_000;

/** `rejected`: how many of them the collector did not take. Rejects where they did not arrive. */
export type SendSpans = (spans: readonly Span[], signal: AbortSignal) => Promise<{ readonly rejected: number }>;

export interface SpanBatches {
  /** In memory and at once. */
  add(spans: readonly Span[]): void;
  /** Sends what waits, for at most `flushMaxMs` or less. Never rejects. */
  flush(limitMs?: number): Promise<void>;
  /** Sends what waits, also after a failure, and nothing more behind it. Never rejects. */
  close(): Promise<void>;
}

export interface SpanBatchesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly send: SendSpans;
}

export function createSpanBatches({ clock, log, send }: SpanBatchesOptions): SpanBatches {
  let waiting: Span[] = [];
  let cancelTimer: (() => void) | undefined;
  let sending: Promise<void> | undefined;
  let isClosed = false;
  let pauseMs = pauseMinMs;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let dropped = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;

  function drop(count: number, why: string): void {
    dropped += count;
    if (clock.nowMs() - loggedAtMs < logIntervalMs) return;
    loggedAtMs = clock.nowMs();
    log.error({ event: 'telemetry_not_sent', message: `${dropped} spans were dropped: ${why}` });
    dropped = 0;
  }

  async function sendBatch(signal: AbortSignal): Promise<boolean> {
    const batch = waiting.slice(0, batchMax);
    waiting = waiting.slice(batchMax);
    try {
      // What hangs is left alone, whether or not it listens to the signal.
      const sent = await untilAborted(send(batch, signal), signal);
      if (sent === undefined) throw new Error('aborted');
      pauseMs = pauseMinMs;
      if (sent.rejected > 0) drop(sent.rejected, 'the collector rejected them');
      return true;
    } catch (error) {
      drop(batch.length, signal.aborted ? 'the collector did not answer in time' : reasonOf(error));
      pausedUntilMs = clock.nowMs() + pauseMs;
      pauseMs = Math.min(2 * pauseMs, pauseMaxMs);
      return false;
    }
  }

  async function sendAll(limitMs: number): Promise<void> {
    const abort = new AbortController();
    const cancel = clock.after(limitMs, () => abort.abort());
    while (waiting.length > 0 && !abort.signal.aborted && (await sendBatch(abort.signal)));
    cancel();
  }

  function flush(limitMs = flushMaxMs): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    if (sending === undefined && waiting.length > 0 && clock.nowMs() >= pausedUntilMs) {
      sending = sendAll(limitMs).finally(() => {
        sending = undefined;
        plan();
      });
    }
    plan();
    return sending ?? Promise.resolve();
  }

  /** Whatever waits is sent by itself, sooner or later. */
  function plan(): void {
    if (waiting.length === 0 || cancelTimer !== undefined || sending !== undefined || isClosed) return;
    cancelTimer = clock.after(Math.max(batchDelayMs, pausedUntilMs - clock.nowMs()), () => void flush());
  }

  return {
    add(spans) {
      waiting.push(...spans);
      const excess = waiting.length - waitingMax;
      if (excess > 0) {
        waiting.splice(0, excess);
        drop(excess, `no more than ${waitingMax} wait`);
      }
      if (waiting.length >= batchMax) void flush();
      else plan();
    },
    flush,
    async close() {
      isClosed = true;
      cancelTimer?.();
      const rest = async () => {
        await sending;
        if (waiting.length > 0) await sendAll(flushMaxMs);
      };
      await waitAtMost(clock, flushMaxMs, rest(), () => {});
    },
  };
}

/** One line: where it happened is no news of a collector that cannot be reached. */
function reasonOf(error: unknown): string {
  const { message, causes } = describeError(error);
  return causes === undefined ? message : `${message} (${causes})`;
}
