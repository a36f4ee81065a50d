// Starts a trace: makes its ids, decides whether it is sampled, and writes both for the next service (W3C Trace
// Context).
import type { Randomness } from '../ids/index.ts';
import type { Span, Trace } from './span.ts';

interface TraceOrigin {
  /** Trace id of the request, as its client wrote it. */
  readonly traceId: string;
  /** The well-formed header, if the client sent one. */
  readonly traceparent: string | undefined;
}

const traceIdShape = /^(?!0{32})[0-9a-f]{32}$/;
const sampledFlag = 1;

/**
 * Opens the trace. The client's sampled flag decides whether the trace is sampled. Without the flag the trace id
 * decides, so that every service decides alike.
 */
export function openTrace(
  { traceId: clientTraceId, traceparent }: TraceOrigin,
  ratio: number,
  randomness: Randomness,
): Trace {
  const lowerCase = clientTraceId.toLowerCase();
  const traceId = traceIdShape.test(lowerCase) ? lowerCase : randomHex(randomness);
  const [, parentTraceId, parentSpanId, flags = ''] = traceparent?.split('-') ?? [];
  const hasParent = parentTraceId === traceId;
  const isSampled = hasParent ? (Number.parseInt(flags, 16) & sampledFlag) !== 0 : isWithin(ratio, traceId);
  return {
    traceId,
    spanId: newSpanId(randomness),
    parentSpanId: hasParent ? parentSpanId : undefined,
    isSampled,
    children: [],
  };
}

export const newSpanId = (randomness: Randomness): string => randomHex(randomness).slice(-spanIdDigits);

const spanIdDigits = 16;

/**
 * Returns random hex digits of a UUID: Node generates UUIDs in batches, in a tenth of the time of random bytes. At most
 * 6 bits are fixed.
 */
const randomHex = (randomness: Randomness): string => randomness.uuid().replaceAll('-', '');

/** Returns the header `traceparent` for a provider. */
export const traceparentOf = ({ traceId, isSampled }: Trace, spanId: string): string =>
  `00-${traceId}-${spanId}-0${isSampled ? sampledFlag : 0}`;

/** The last 56 bits of a trace id are random by the standard; the first 32 of them are enough to compare. */
const randomDigitsFrom = 18;
const randomDigits = 8;

function isWithin(ratio: number, traceId: string): boolean {
  const digits = traceId.slice(randomDigitsFrom, randomDigitsFrom + randomDigits);
  return Number.parseInt(digits, 16) / 16 ** randomDigits < ratio;
}

/** Telemetry for the rest of a process. If it is off, its modules are not loaded. */
export interface Telemetry {
  /** True if stored bodies of calls are sent with their spans. */
  readonly capturesContent: boolean;
  /** Opens the trace of a new request. */
  open(origin: TraceOrigin): Trace;
  /**
   * Records the spans of a request that has ended, if its trace is sampled or something in it failed. It does not wait
   * for the collector.
   */
  record(trace: Trace, request: Span): void;
  /**
   * Sends the collected spans, for a process that is frozen afterwards. Ends within two seconds, or within `limitMs`.
   * Never rejects.
   */
  flush(limitMs?: number): Promise<void>;
  /** Sends the last spans, for at most two seconds. Never rejects. */
  close(): Promise<void>;
}
