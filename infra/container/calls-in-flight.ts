// How many calls are in flight in this process, as a metric of its log lines: the average over the processes of a stage says
// whether it needs more of them. Their processors say it too late, as calls that wait use none.
import { processMetricSeries } from '../../shared/foundation/constants/index.ts';
import type { Log } from '../../shared/foundation/log/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';

/** Four times in the shortest period of a metric, so that its average is no matter of chance. */
const reportEveryMs = 15_000;

interface CallsInFlightReport {
  stop(): void;
}

export function reportCallsInFlight(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  inFlight: () => number,
): CallsInFlightReport {
  const write = () => {
    const values = { CallsInFlight: { unit: 'Count', value: inFlight() } } as const;
    log.info({ event: 'calls_in_flight' }, { dimensions: {}, series: processMetricSeries, values });
    cancel = clock.after(reportEveryMs, write);
  };
  let cancel = clock.after(reportEveryMs, write);
  return { stop: () => cancel() };
}
