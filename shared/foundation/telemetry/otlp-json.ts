// Spans in the JSON form of OTLP (ExportTraceServiceRequest): ids in hex, 64-bit integers as texts, enumerations as numbers.
import type { Attributes, AttributeValue, Span } from './span.ts';

const kinds = { server: 2, client: 3 } as const;
const errorStatus = 2;

/** `resource`: who sends them. */
export const toOtlpJson = (spans: readonly Span[], resource: Attributes): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toKeyValues(resource) },
        scopeSpans: [{ scope: { name: 'gw' }, spans: spans.map(toSpan) }],
      },
    ],
  });

function toSpan(span: Span) {
  const { traceId, spanId, parentSpanId, name, startedAtMs, endedAtMs } = span;
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: kinds[span.kind],
    startTimeUnixNano: toNanoseconds(startedAtMs),
    // A clock that was set back must not make a span end before it began.
    endTimeUnixNano: toNanoseconds(Math.max(startedAtMs, endedAtMs)),
    attributes: toKeyValues(span.attributes),
    status: span.isError ? { code: errorStatus } : {},
  };
}

/** Written as a text, because nanoseconds exceed the exact range of a double. */
const toNanoseconds = (ms: number): string => `${Math.round(ms)}000000`;

function toKeyValues(attributes: Attributes): object[] {
  const keyValues: object[] = [];
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) keyValues.push({ key, value: toAnyValue(value) });
  }
  return keyValues;
}

function toAnyValue(value: AttributeValue): object {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'boolean':
      return { boolValue: value };
    case 'bigint':
      return { intValue: String(value) };
    case 'number':
      return { doubleValue: value };
    default:
      return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
  }
}
