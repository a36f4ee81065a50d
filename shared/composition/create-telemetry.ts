// Telemetry of a process that is told where traces go. What sends them is loaded while the process starts.
import type { TelemetryEnvironment } from '../foundation/environment/index.ts';
import type { Randomness } from '../foundation/ids/index.ts';
import { openTrace, type Telemetry } from '../foundation/telemetry/index.ts';
import type { ExporterDependencies } from './telemetry-exporter.ts';

export interface TelemetryDependencies extends ExporterDependencies {
  readonly randomness: Randomness;
}

export function createTelemetry(settings: TelemetryEnvironment, deps: TelemetryDependencies): Telemetry {
  const { randomness, log } = deps;
  const loading = import('./telemetry-exporter.ts')
    .then(({ createExporter }) => createExporter(settings, deps))
    .catch((error: unknown) => void log.error({ event: 'telemetry_not_loaded' }, error));
  return {
    open: (origin) => openTrace(origin, settings.sampleRatio, randomness),
    record(trace, request) {
      const spans = [request, ...trace.children];
      if (trace.isSampled || spans.some(({ isError }) => isError)) void loading.then((batches) => batches?.add(spans));
    },
    flush: async (limitMs) => (await loading)?.flush(limitMs),
    close: async () => (await loading)?.close(),
  };
}
