// Spans of a request and of its provider calls, as plain values. Types only.

/**
 * Value of an attribute. A number is sent as a double and a bigint as an integer, whatever its value, because backends
 * require one type for each attribute.
 */
export type AttributeValue = string | boolean | number | bigint | readonly string[];
/** Attributes by name. Undefined values are dropped. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export interface Span {
  /** Id of the trace: 32 hex digits. */
  readonly traceId: string;
  /** Id of the span: 16 hex digits. */
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

/** A trace before any of its spans has ended. */
export interface Trace {
  readonly traceId: string;
  /** Id of the request's own span. */
  readonly spanId: string;
  /** The client's span to which the request belongs. */
  readonly parentSpanId: string | undefined;
  readonly isSampled: boolean;
  /** Spans below the request's span, added as they end. */
  readonly children: Span[];
}
