// Creates the trace exporter, and is loaded only if telemetry is on: to a collector, with headers of its own that may
// be a secret, or to CloudWatch, signed with the credentials of the process.
import { readPairs, type TelemetryEnvironment, toHeaders } from '../foundation/environment/index.ts';
import type { Log } from '../foundation/log/index.ts';
import { createOtlpExporter, createSpanBatches, type SpanBatches } from '../foundation/telemetry/index.ts';
import type { Clock } from '../foundation/time/index.ts';
import { awsAccess, processCredentials, requestSigner, secretText } from '../storage/aws-clients/index.ts';

/** Time after which headers from a secret are read again, and so the delay of a rotation. */
const secretFreshMs = 300_000;
/** The service that CloudWatch's endpoint for traces belongs to. */
const tracesService = 'xray';

export interface ExporterDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

type Headers = Readonly<Record<string, string>>;

export function createExporter(settings: TelemetryEnvironment, { clock, log }: ExporterDependencies): SpanBatches {
  const { endpoint, resource, headers, headersSecret: secret, cloudwatchRegion: region } = settings;
  const secretHeaders = secret === undefined ? undefined : rememberedHeaders(clock, secret);
  const credentials = processCredentials();
  const exporter = createOtlpExporter({
    clock,
    endpoint,
    resource,
    headers: async () => ({ ...headers, ...(await secretHeaders?.()) }),
    sign: region === undefined ? undefined : requestSigner({ service: tracesService, region, credentials, clock }),
  });
  const batches = createSpanBatches({ clock, log, send: exporter.send });
  return {
    ...batches,
    async close() {
      await batches.close();
      exporter.close();
    },
  };
}

function rememberedHeaders(clock: Clock, secretId: string): () => Promise<Headers> {
  const read = secretText(awsAccess({ clock }), secretId);
  let known: { readonly headers: Headers; readonly readAtMs: number } | undefined;
  return async () => {
    if (known !== undefined && clock.nowMs() - known.readAtMs < secretFreshMs) return known.headers;
    const pairs = readPairs(await read());
    if (pairs === undefined) throw new Error('the secret with the headers of the collector is malformed');
    known = { headers: toHeaders(pairs), readAtMs: clock.nowMs() };
    return known.headers;
  };
}
