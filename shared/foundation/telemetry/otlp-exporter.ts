// Sends spans to a collector, by OTLP over HTTP, as JSON with gzip.
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { ConnectionBroken, createOutgoingCalls, type OutgoingAnswer, readText } from '../outgoing/index.ts';
import type { Clock } from '../time/index.ts';
import type { Attributes, AttributeValue, Span } from './span.ts';
import type { SendSpans } from './span-batches.ts';

/** Maximum sockets; one batch is sent at a time. */
const socketsMax = 2;
/**
 * Time after which an idle socket is closed. It is below the five seconds after which a server on Node closes it, and
 * far below the limits of others.
 */
const idleSocketMs = 4_000;
const connectTimeoutMs = 1_000;
/** Bound of the answer that is read, in bytes. */
const answerMaxBytes = 64 * 1024;

interface SignableExport {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface OtlpExporterOptions {
  readonly clock: Clock;
  readonly endpoint: string;
  readonly resource: Attributes;
  /** Returns the headers. Called before each export, because they may come from a secret store. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** Returns all headers of an export, its signature included. */
  readonly sign: ((request: SignableExport) => Promise<Record<string, string>>) | undefined;
}

interface OtlpExporter {
  readonly send: SendSpans;
  close(): void;
}

const compress = promisify(gzip);
/** Compression level, which takes half the time of the default, and makes similar spans a tenth larger. */
const level = constants.Z_BEST_SPEED;

export function createOtlpExporter({ clock, endpoint, resource, headers, sign }: OtlpExporterOptions): OtlpExporter {
  const calls = createOutgoingCalls({ clock, socketsMax, idleSocketMs });
  const url = new URL(endpoint);

  async function post(body: Uint8Array, signal: AbortSignal): Promise<OutgoingAnswer> {
    const plain = {
      ...(await headers()),
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'user-agent': 'gw',
    };
    const request = { url, headers: plain, body };
    const all = sign === undefined ? plain : await sign(request);
    signal.throwIfAborted();
    return calls.send({ ...request, headers: all, method: 'POST', connectTimeoutMs, signal });
  }

  return {
    async send(spans, signal) {
      const body = await compress(toOtlpJson(spans, resource), { level });
      const answer = await post(body, signal).catch((error: unknown) => {
        // The export is tried once more, because most likely the socket was closed while it was idle. A span that
        // arrives twice has one id.
        if (error instanceof ConnectionBroken && !signal.aborted) return post(body, signal);
        throw error;
      });
      // The answer is read to its end, so that the socket serves the next export.
      const text = await readText(answer.body, answerMaxBytes);
      if (text === undefined) throw new Error('the answer of the collector is too large');
      const { status } = answer;
      if (status < 200 || status >= 300) throw new Error(`the collector answered with status ${status}`);
      return { rejected: rejectedIn(text) };
    },
    close: () => calls.close(),
  };
}

/** Returns the number of rejected spans, which is 0 if the answer does not mention any. */
function rejectedIn(text: string): number {
  try {
    const answer = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } } | null;
    const rejected = Number(answer?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}

// Spans in the JSON form of OTLP (ExportTraceServiceRequest): ids in hex, 64-bit integers as texts, enumerations as
// numbers.

const kinds = { server: 2, client: 3 } as const;
const errorStatus = 2;

/** Writes the spans. `resource` has attributes that describe the sender. */
const toOtlpJson = (spans: readonly Span[], resource: Attributes): string =>
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

/** Writes a number as a text, because nanoseconds exceed the exact range of a double. */
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
