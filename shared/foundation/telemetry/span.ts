// Spans of a request and of its provider calls, as plain values. Types only.

/** A number is a double and a bigint an integer, whatever its value: backends want one type for each attribute. */
export type AttributeValue = string | boolean | number | bigint | readonly string[];
/** Undefined values are dropped. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export interface Span {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
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
  /** The span of the client that the request belongs to. */
  readonly parentSpanId: string | undefined;
  readonly isSampled: boolean;
  /** Spans below that of the request, added as they end. */
  readonly children: Span[];
}
