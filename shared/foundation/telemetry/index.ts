export { createOtlpExporter } from './otlp-exporter.ts';
export type { Attributes, Span, Trace } from './span.ts';
export { createSpanBatches, flushMaxMs, type SpanBatches } from './span-batches.ts';
export { newSpanId, openTrace, type Telemetry, traceparentOf } from './trace.ts';
