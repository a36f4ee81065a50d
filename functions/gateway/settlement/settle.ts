// Serves an admitted call, and settles it after the last byte, however the call ends. Settlement writes the money, the
// cached answer, everything that other calls wait for, and the record. All steps begin together, except for the record,
// which is written with the money or after it. One deadline bounds all steps, and a step that fails stops no other
// step.
import type { Catalogue } from '../../../shared/configuration/catalogue/index.ts';
import { errorCatalogue, toEnvelope } from '../../../shared/errors/index.ts';
import type { Log } from '../../../shared/foundation/log/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import { awaitAll } from '../../../shared/foundation/parallel/index.ts';
import type { Trace } from '../../../shared/foundation/telemetry/index.ts';
import { type Deadline, startDeadline } from '../../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { streamHeaders, toGatewayError } from '../../../shared/protocol/router/index.ts';
import {
  type Attempt,
  endedAttempts,
  reportAttempt,
  settleAttempts,
} from '../../../shared/routing/provider-metrics/index.ts';
import { retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { ownText, respondWith } from '../exit/exit.ts';
import type {
  AdmittedCall,
  CallContent,
  CallResult,
  ClaimsEnd,
  EndedCall,
  PlannedCall,
  ServedCall,
} from '../stages.ts';
import type { ContentCall } from './keep-content.ts';
import { logFailedAttempts } from './log-attempts.ts';
import { type CallHolds, openCallHolds } from './settle-holds.ts';
import { openRecord } from './write-record.ts';

export async function serveAndSettle<Planned extends PlannedCall>(
  deps: GatewayDependencies,
  admitted: AdmittedCall<Planned>,
  serve: (deps: GatewayDependencies, call: ServedCall<Planned>) => Promise<CallResult>,
): Promise<GatewayResponse> {
  const admittedAtMs = deps.clock.nowMs();
  const holds = openCallHolds(deps, admitted);
  const { settleEarly } = holds;
  const opening = contentOf(deps, admitted);
  const content = opening && (await opening);
  if (content !== undefined) admitted.guard?.recordBlockedTextIn(content);
  const call = { admitted, settleEarly, content };
  const { deferred } = admitted.planned.identified.parsed.scope;
  const settling = { holds, admittedAtMs };
  const unusedPermit = admitted.reservations.firstCandidate?.permit;
  const notRun = { attempts: [], attemptCount: 0, queuedMs: 0, upstreamMs: 0, firstOutputAtMs: undefined };
  let result: CallResult;
  try {
    result = await serve(deps, call);
  } catch (error) {
    result = failed({ ...notRun, unusedPermit }, error);
  }
  if (result.response !== undefined) {
    const { end } = result;
    deferred.add(() => settle(deps, call, settling, end()));
    return watchedBy(content, result.response);
  }
  const { ended } = result;
  deferred.add(() => settle(deps, call, settling, ended));
  // The claims are released before the client knows of the failure, because its retry may come at once. Settlement
  // repeats a release that failed.
  await awaitAll([admitted.claims.release(claimsEndOf(ended))?.catch(() => {}), settleEarly?.()]);
  return watchedBy(content, errorAsStream(deps, admitted, result.error));
}

type Answering = GatewayResponse | Promise<GatewayResponse>;
export const watchedBy = (content: CallContent | undefined, answering: Answering): Answering =>
  content === undefined ? answering : content.watch(answering);

/** Opens the content log of a call that may run. */
export const contentOf = (
  deps: GatewayDependencies,
  call: ContentCall,
): Promise<CallContent | undefined> | undefined =>
  call.planned.identified.workspace.content_log == null ? undefined : openContentOf(deps, call);

/** The module is loaded with the first call of a workspace that stores bodies. */
async function openContentOf(deps: GatewayDependencies, call: ContentCall): Promise<CallContent | undefined> {
  const { correlationId, errorFormat } = call.planned.identified.parsed.scope;
  try {
    const { openContent } = await import('./keep-content.ts');
    return openContent(deps, call, (error) => toEnvelope(toGatewayError(error), correlationId, errorFormat));
  } catch (error) {
    deps.log.error({ event: 'content_not_kept', failed_control: 'content', correlation_id: correlationId }, error);
    return undefined;
  }
}

/** Throws the error, unless clients of the interface expect it in a stream. */
async function errorAsStream(
  { clock }: GatewayDependencies,
  { planned: { effective }, owner }: AdmittedCall,
  error: unknown,
): Promise<GatewayResponse> {
  const answer = { id: owner, createdSeconds: Math.floor(clock.nowMs() / 1_000) };
  const body = await effective.request.refusedStream?.(toGatewayError(error), answer);
  if (body === undefined) throw error;
  return respondWith(ownText(body), { headers: streamHeaders, body });
}

export const failed = (run: EndedCall['run'], error: unknown): CallResult => ({
  response: undefined,
  error,
  ended: { run, error: toGatewayError(error), stream: undefined, writeCache: undefined },
});

/** Time limit of a settlement, within the 10 s that an adapter waits for `finish`. */
const settlementBudgetMs = 9_000;
/**
 * Part of the runtime's remaining time that is reserved for the end of a write, and for the log line of a failed write.
 */
const lastWriteMs = 1_000;

interface Settling {
  readonly holds: CallHolds;
  readonly admittedAtMs: number;
}

/** Returns undefined if there is nothing to wait for. Never rejects. */
function settle(
  deps: GatewayDependencies,
  { admitted, content }: ServedCall,
  { holds, admittedAtMs }: Settling,
  ended: EndedCall,
): Promise<unknown> | undefined {
  const { clock, limiter, log } = deps;
  const times = { admittedAtMs, settlingAtMs: clock.nowMs() };
  const { planned, claims } = admitted;
  const { parsed, workspace, catalogue } = planned.identified;
  const { scope } = parsed;
  const { run, stream, writeCache } = ended;
  const { endsAtMs = Number.POSITIVE_INFINITY, trace } = scope;
  const leftMs = endsAtMs - lastWriteMs - times.settlingAtMs;
  const deadline = startDeadline(clock, times.settlingAtMs, Math.max(0, Math.min(settlementBudgetMs, leftMs)));
  /** Returns undefined if the step needs no waiting. */
  const step = (name: string, work: () => unknown): Promise<unknown> | undefined => {
    const report = (error: unknown) =>
      log.error({ event: 'settlement_failed', settlement_step: name, correlation_id: scope.correlationId }, error);
    try {
      const working = work();
      return working instanceof Promise ? working.catch(report) : undefined;
    } catch (error) {
      report(error);
      return undefined;
    }
  };
  const identity = { workspace: workspace.id, callId: scope.correlationId };
  if (stream !== undefined) reportAttempt(deps, stream.attempt, identity);
  const attempts = stream === undefined ? run.attempts : [...run.attempts, stream.attempt];
  const { unusedPermit } = run;
  const record = openRecord(deps, admitted, stream === undefined ? ended : endedWith(ended, attempts), times);
  const charged = holds.settleMoney(deadline, record);
  const money = step('money', () => charged);
  const settledAttempts = settleAttempts(deps, attempts).map((work) => step('attempts', work));

  // No step rejects.
  return awaitAll([
    money,
    ...settledAttempts,
    step('alerts', () =>
      lookForAlerts(deps, catalogue, { before: [money, ...settledAttempts], holds, attempts, deadline }),
    ),
    step('tokens', () => holds.settle('tokens', deadline)),
    step('slots', () => holds.settle('slots', deadline)),
    writeCache && step('response_cache', writeCache),
    step('claims', () => claims.settle(claimsEndOf(ended), deadline)),
    trace && step('spans', () => addSpans(deps, trace, { planned, content }, attempts)),
    unusedPermit && step('unused_permit', () => retryWrite(clock, () => limiter.release(unusedPermit), { deadline })),
    step('attempt_lines', () => logFailedAttempts(log, planned, attempts)),
    step('charge_lines', () => logChargesOverHold(log, admitted)),
    step('record', () => record.writeBehind({ deadline, content: content?.write(deadline), charged })),
  ]);
}

/** Returns the end of the call with the attempt of its stream, which ended with the stream. */
function endedWith({ run, error, stream, writeCache }: EndedCall, attempts: readonly Attempt[]): EndedCall {
  const { attemptCount, queuedMs, upstreamMs, firstOutputAtMs, unusedPermit } = run;
  const whole = { attempts, attemptCount, queuedMs, upstreamMs, firstOutputAtMs, unusedPermit };
  return { run: whole, error, stream, writeCache };
}

interface SettledParts {
  /** Work that alerts wait for: the charges, which show the passed shares of limits, and the reports of attempts. */
  readonly before: readonly (Promise<unknown> | undefined)[];
  readonly holds: CallHolds;
  readonly attempts: readonly Attempt[];
  readonly deadline: Deadline;
}

function lookForAlerts(
  { alerts, credentials, cooldowns }: GatewayDependencies,
  { service }: Catalogue,
  { before, holds, attempts, deadline }: SettledParts,
): Promise<unknown> | undefined {
  const settings = service.alerts;
  if (settings == null) return undefined;
  const { url, secret, at } = settings;
  const receiver = () => ({
    url: credentials.secretOf(url),
    secret: secret === undefined ? null : credentials.secretOf(secret),
  });
  return Promise.all(before).then(() =>
    alerts.look({ at, receiver }, { charged: holds.charged, attempts: endedAttempts(cooldowns, attempts) }, deadline),
  );
}

/** Adds the spans. The module is loaded with the first trace, because most gateways send no traces. */
async function addSpans(
  { telemetry }: GatewayDependencies,
  trace: Trace,
  { planned, content }: { readonly planned: PlannedCall; readonly content: CallContent | undefined },
  attempts: readonly Attempt[],
): Promise<void> {
  const { attemptSpans } = await import('./attempt-spans.ts');
  const bodies = telemetry?.capturesContent === true ? await content?.bodies() : undefined;
  const { turns } =
    bodies === undefined ? { turns: undefined } : await planned.identified.parsed.clientInterface.grammar();
  trace.children.push(...attemptSpans(trace, planned, attempts, bodies && { ...bodies, turns }));
}

const claimsEndOf = ({ error, stream, run }: EndedCall): ClaimsEnd => ({
  isRetryable:
    error === undefined
      ? stream !== undefined && stream.end !== 'complete'
      : error.entry.status >= errorCatalogue.rate_limited.status,
  reachedProvider: run.attemptCount > 0,
});

// Logs a line for each unit of which a provider counts more than the call reserved. The report is believed, because the
// operator's bill follows it.
function logChargesOverHold(log: Log, { planned, bill, reservations }: AdmittedCall): void {
  const { parsed, workspace } = planned.identified;
  const holdsBudget = (provider: string) =>
    reservations.budgetHolds?.some((hold) => hold.provider === provider) === true;
  for (const { candidate, usage, cost, payer, overHold } of bill.charges) {
    const provider = candidate.provider.id;
    if (payer === 'client' && !holdsBudget(provider)) continue;
    for (const { unit, reported, held } of overHold) {
      log.info({
        event: 'charge_over_hold',
        message: `The provider reported ${reported} ${unit} for a call that can have ${held}.`,
        correlation_id: parsed.scope.correlationId,
        workspace_id: workspace.id,
        provider,
        model: candidate.model.id,
        units: `${reported} ${unit}`,
        input_tokens: usage.promptTokens,
        cost_usd: formatUsd(cost.total),
      });
    }
  }
}
