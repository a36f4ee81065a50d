// What telemetry knows of a request and of its provider calls: spans as plain values. Types only.

/** A number is a double and a bigint an integer, whatever its value: backends want one type for each attribute. */
export type AttributeValue = string | boolean | number | bigint | readonly string[];
/** What is undefined is left out. */
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

/** What is known of a trace before anything of it has ended. */
export interface Trace {
  readonly traceId: string;
  /** Of the request's own span. */
  readonly spanId: string;
  /** The span of the client that the request belongs to. */
  readonly parentSpanId: string | undefined;
  readonly isSampled: boolean;
  /** Spans below that of the request, added as they end. */
  readonly children: Span[];
}
