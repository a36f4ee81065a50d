// Counts the calls of a process in Prometheus's format. Calls are counted from their log lines, so that a metric never
// differs from the log. A label is an id of the catalogue, a code of the error table, or a word of this file.
import { type CallOutcome, classOf, errorCodeOf } from '../../shared/accounting/call-records/index.ts';
import type { Composition } from '../../shared/composition/index.ts';
import { accountOf, type Catalogue } from '../../shared/configuration/catalogue/index.ts';
import type { ErrorCode } from '../../shared/errors/index.ts';
import { basePaths, routePaths } from '../../shared/foundation/constants/index.ts';
import type { Log, LogFields } from '../../shared/foundation/log/index.ts';
import { systemClock, waitAtMost } from '../../shared/foundation/time/index.ts';
import type { MetricValues, Series } from './prometheus.ts';

export interface CallMetrics {
  /** Returns the same log, whose lines are counted. */
  counted(log: Log): Log;
  /** Sets the process whose gauges are read. Without it the metrics have no gauges. */
  watch(composition: WatchedProcess): void;
  /** Reads the metrics, which include every answered call. */
  read(): Promise<MetricValues>;
}

type WatchedProcess = Pick<Composition, 'catalogue' | 'cooldowns' | 'callsUnderWay' | 'memory' | 'settling'>;

/** Maximum wait for settlements, which take milliseconds while the store answers; a scraper waits ten seconds. */
const settledMaxMs = 1_000;

const callRoutes: ReadonlySet<unknown> = new Set(
  basePaths.flatMap((base) => Object.values(routePaths).map((path) => `${base}${path}`)),
);

export function createCallMetrics(): CallMetrics {
  let series: Series | undefined;
  const loading = import('./prometheus.ts').then(({ createSeries }) => {
    series = createSeries();
    return series;
  });
  const counting = new Set<Promise<void>>();
  let watched: WatchedProcess | undefined;

  /** Counts a call that was not served. A name that a client wrote is only a label if the catalogue contains it. */
  async function countUnserved(loaded: Series, fields: LogFields): Promise<void> {
    const requestedModel = String(fields['gen_ai.request.model']);
    const catalogue = await watched?.catalogue.current().catch(() => undefined);
    countCall(loaded, fields, catalogue?.models.has(requestedModel) ? requestedModel : '');
  }

  /** Returns undefined if the line was counted at once, as is almost every call. */
  function count(fields: LogFields): Promise<void> | undefined {
    const { event, failed_control: control, 'gen_ai.response.model': model } = fields;
    if (series === undefined) return loading.then(() => count(fields));
    if (control !== undefined) {
      series.failedControls.inc({ control });
      return undefined;
    }
    if (event !== 'attempt_failed' && model === undefined) return countUnserved(series, fields);
    if (event === 'attempt_failed') countFailure(series, fields);
    else countCall(series, fields, String(model));
    return undefined;
  }

  function countOrLog(log: Log, fields: LogFields): void {
    const notCounted = (cause: unknown) => log.error({ event: 'call_not_counted' }, cause);
    try {
      const later = count(fields);
      if (later === undefined) return;
      const counted = later.catch(notCounted).finally(() => counting.delete(counted));
      counting.add(counted);
    } catch (cause) {
      notCounted(cause);
    }
  }

  return {
    counted: (log) => ({
      error(fields, cause) {
        log.error(fields, cause);
        if (fields.failed_control !== undefined) countOrLog(log, fields);
      },
      info(fields, metrics) {
        log.info(fields, metrics);
        if (fields.event === 'attempt_failed' || isCallLine(fields)) countOrLog(log, fields);
      },
    }),
    watch(composition) {
      watched = composition;
    },
    async read() {
      const counts = Promise.allSettled(watched?.settling ?? []).then(() => Promise.allSettled(counting));
      await waitAtMost<unknown, unknown>(systemClock, settledMaxMs, counts, () => {});
      const loaded = await loading;
      if (watched !== undefined) await readGauges(loaded, watched);
      return loaded.read();
    },
  };
}

const isCallLine = ({ event, method, route }: LogFields): boolean =>
  event === 'request' && method === 'POST' && callRoutes.has(route);

function countFailure({ failures }: Series, { provider, model, outcome }: LogFields): void {
  failures.inc({ cause: String(outcome), provider: String(provider), model: String(model) });
}

const tokenFields = {
  input: 'gen_ai.usage.input_tokens',
  cached_input: 'cached_input_tokens',
  output: 'gen_ai.usage.output_tokens',
  reasoning: 'reasoning_tokens',
} as const;
const tokenKinds = ['input', 'cached_input', 'output', 'reasoning'] as const;

function countCall(series: Series, fields: LogFields, model: string): void {
  const labels = { provider: String(fields['gen_ai.provider.name'] ?? ''), model };
  series.calls.inc({ ...outcomeOf(fields), ...labels });
  for (const kind of tokenKinds) {
    const value = Number(fields[tokenFields[kind]]);
    if (value > 0) series.tokens.inc({ kind, ...labels }, value);
  }
  const { cost_usd: cost, total_ms: totalMs, first_byte_ms: firstMs, gateway_ms: gatewayMs } = fields;
  if (Number(cost) > 0) series.cost.inc({ payer: payerOf(fields), ...labels }, Number(cost));
  countWorkspace(series, fields);
  if (totalMs !== undefined) series.duration.observe(labels, Number(totalMs) / 1_000);
  if (firstMs !== undefined) series.firstOutput.observe(labels, Number(firstMs) / 1_000);
  if (gatewayMs !== undefined) series.gatewayTime.observe(Number(gatewayMs) / 1_000);
}

/** Counts a call for its workspace. A call without a known key has no workspace. */
function countWorkspace({ workspaceCalls, workspaceCost, workspaceLabel }: Series, fields: LogFields): void {
  const { workspace_id: id, cost_usd: cost } = fields;
  if (id === undefined) return;
  const workspace = workspaceLabel(String(id));
  workspaceCalls.inc({ outcome: outcomeOf(fields).outcome, workspace });
  if (Number(cost) > 0) workspaceCost.inc({ payer: payerOf(fields), workspace }, Number(cost));
}

const payerOf = ({ is_byok: isByok }: LogFields): string => (isByok === true ? 'client' : 'workspace');

/** Returns the outcome. The log names the code of an error as the outcome of its call. */
function outcomeOf(fields: LogFields): { readonly outcome: string; readonly code: string } {
  const ended = { outcome: fields.outcome as CallOutcome, cutCode: fields['error.type'] as ErrorCode | undefined };
  return { outcome: classOf(ended), code: errorCodeOf(ended) ?? '' };
}

async function readGauges(series: Series, watched: WatchedProcess): Promise<void> {
  const { catalogue, cooldowns, callsUnderWay, memory } = watched;
  const [current] = await Promise.all([catalogue.current().catch(() => undefined), cooldowns.refresh()]);
  series.inFlight.set(callsUnderWay.all());
  series.bytesInUse.set(memory.bytesInUse());
  series.cooling.reset();
  for (const labels of coolingIn(current, cooldowns)) series.cooling.set(labels, 1);
}

function* coolingIn(catalogue: Catalogue | undefined, cooldowns: WatchedProcess['cooldowns']) {
  for (const [model, { candidates }] of catalogue?.models ?? []) {
    for (const { provider } of candidates) {
      const coolingFor = cooldowns.coolingFor({ provider: accountOf(provider), model });
      if (coolingFor.length === 0) continue;
      yield { scope: coolingFor === 'all' ? 'all' : 'workspace', provider: accountOf(provider), model };
    }
  }
}
