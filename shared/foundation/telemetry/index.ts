export { createOtlpExporter } from './otlp-exporter.ts';
export type { Attributes, Span, Trace } from './span.ts';
export { createSpanBatches, flushMaxMs, type SpanBatches } from './span-batches.ts';
export type { Telemetry } from './telemetry.ts';
export { newSpanId, openTrace, traceparentOf } from './trace.ts';
