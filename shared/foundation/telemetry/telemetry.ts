// Telemetry as the rest of a process sees it. Types only: where it is off, nothing more of it is loaded.
import type { Span, Trace } from './span.ts';
import type { TraceOrigin } from './trace.ts';

export interface Telemetry {
  /** The trace of a request that has come. */
  open(origin: TraceOrigin): Trace;
  /** Takes the spans of a request that has ended, where its trace is sampled or something in it failed. At once. */
  record(trace: Trace, request: Span): void;
  /** Sends what was taken: for a process that sleeps afterwards. Ends within two seconds, or `limitMs`. Never rejects. */
  flush(limitMs?: number): Promise<void>;
  /** Sends the last spans, for at most two seconds. Never rejects. */
  close(): Promise<void>;
}
