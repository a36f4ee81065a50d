// A collector of traces: OTLP over HTTP, JSON, gzip. Each export is checked against the JSON format of the published
// proto (opentelemetry/proto/collector/trace/v1, opentelemetry/proto/trace/v1, common/v1, resource/v1): an unknown
// field, another type, an id that is not hexadecimal or a 64-bit number that is not a text fails the test.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { createFaultScript } from './fault-script.ts';

const anyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }) }),
]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value: anyValue }));
const nanoseconds = z.string().regex(/^\d{19}$/);
const spanSchema = z.strictObject({
  traceId: z.string().regex(/^(?!0{32})[0-9a-f]{32}$/),
  spanId: z.string().regex(/^(?!0{16})[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  status: z.strictObject({ code: z.int().min(1).max(2).optional() }),
});
const exportSchema = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(spanSchema) })),
    }),
  ),
});

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly isError: boolean;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/**
 * `accept`; a status to answer with; `hang`: never answers; `die`: closes each connection; `partial`: rejects one span.
 */
export type CollectorMode = 'accept' | 'hang' | 'die' | 'partial' | number;

export interface Collector {
  /** The address of traces. */
  readonly endpoint: string;
  mode: CollectorMode;
  /** Every export, including those that were not accepted. */
  readonly exports: {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
    readonly bytes: number;
  }[];
  readonly resource: () => Readonly<Record<string, unknown>>;
  /** Returns the spans in the order of their arrival. */
  readonly spans: () => CollectedSpan[];
  clear(): void;
  /** Closes the listener. Rejects if a mode that a test has set has met no export. */
  stop(): Promise<void>;
}

type AnyValue = z.infer<typeof anyValue>;

const plainValue = (value: AnyValue): unknown => {
  if ('intValue' in value) return BigInt(value.intValue);
  if ('arrayValue' in value) return value.arrayValue.values.map(({ stringValue }) => stringValue);
  return Object.values(value)[0];
};
const plainAttributes = (list: z.infer<typeof attributes>): Record<string, unknown> => {
  const names = list.map(({ key }) => key);
  if (new Set(names).size < names.length) throw new Error('an attribute stands there twice');
  return Object.fromEntries(list.map(({ key, value }) => [key, plainValue(value)]));
};

const toMs = (nanos: string): number => Number(BigInt(nanos) / 1_000_000n);
const kinds = { 2: 'server', 3: 'client' } as const;

const toCollected = (span: z.infer<typeof spanSchema>): CollectedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  name: span.name,
  kind: kinds[span.kind as keyof typeof kinds],
  isError: span.status.code === 2,
  startedAtMs: toMs(span.startTimeUnixNano),
  endedAtMs: toMs(span.endTimeUnixNano),
  attributes: plainAttributes(span.attributes),
});

export async function startCollector(): Promise<Collector> {
  const script = createFaultScript('a collector');
  let mode: CollectorMode = 'accept';
  const exports: Collector['exports'] = [];
  const parsed = () => exports.map(({ text }) => exportSchema.parse(JSON.parse(text)));
  const server: Server = createServer(async (request, response) => {
    // An exporter that waits for 20 ms may have left before its export is read.
    script.markSent(String(mode));
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    exports.push({
      path: request.url ?? '',
      headers: request.headers,
      text: gunzipSync(body).toString(),
      bytes: body.length,
    });
    if (mode === 'hang') return;
    if (mode === 'die') return void request.socket.destroy();
    response.writeHead(typeof mode === 'number' ? mode : 200, { 'content-type': 'application/json' });
    response.end(mode === 'partial' ? '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"canary"}}' : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    get mode() {
      return mode;
    },
    set mode(next) {
      if (next !== 'accept') script.script(String(next));
      mode = next;
    },
    exports,
    resource: () => plainAttributes(parsed().at(-1)?.resourceSpans[0]?.resource.attributes ?? []),
    spans: () =>
      parsed().flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(toCollected))),
      ),
    clear: () => void exports.splice(0),
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      script.check();
    },
  };
}
