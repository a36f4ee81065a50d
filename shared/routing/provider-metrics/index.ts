// Reports each attempt exactly once to statistics, cooldowns and limit counters. Attempts that a client's own key pays
// for are skipped, because their limits are not limits of the gateway, and one client's wrong key must not cool a
// provider for the others.
import type { EndedAttempt } from '../../accounting/alerts/index.ts';
import type { Admission, Permit, ProviderLimiter } from '../../accounting/limits/index.ts';
import type { Cooldowns, StatisticsReader, StatisticsRecorder } from '../../accounting/provider-health/index.ts';
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { ClientInterface } from '../../protocol/interfaces/index.ts';
import type { AnswerDetails } from '../../protocol/wire/index.ts';
import { retryWrite } from '../../storage/store/index.ts';
import type { Charge } from '../billing/index.ts';
import { type LimitedCall, type ReachedVia, requestsOf } from '../formats/index.ts';
import { entryOf, estimateTokens, limitsOf } from '../planner/index.ts';
import type { AttemptFailure, CredentialSource, FailureKind } from '../providers/index.ts';

export interface ProviderMetricsDependencies {
  readonly clock: Clock;
  readonly limiter: ProviderLimiter;
  readonly cooldowns: Cooldowns;
  readonly recorder: StatisticsRecorder;
  readonly statistics: StatisticsReader;
  readonly credentials: CredentialSource;
}

/**
 * Checks whether a candidate may be called now. The limits count everything that the call will send to the candidate.
 */
export function askLimits(
  limiter: Pick<ProviderLimiter, 'admit'>,
  candidate: Candidate,
  client: { readonly clientInterface: ClientInterface },
  call: LimitedCall,
): Promise<Admission> {
  const tokens = estimateTokens(call.size, candidate);
  const admit = (requests: number) => limiter.admit(entryOf(candidate), limitsOf(candidate), { tokens, requests });
  const requests = requestsOf(candidate, client, call);
  return typeof requests === 'number' ? admit(requests) : requests.then(admit);
}

/** Outcomes that count. The gateway's own deadline and a client that left are no evidence about the provider. */
const countedOutcomes: Partial<Record<FailureKind, 'failed' | 'rate_limited' | 'invalid'>> = {
  failed: 'failed',
  rate_limited: 'rate_limited',
  invalid: 'invalid',
};

/** Identity of the client's call: its workspace and correlation id. */
interface CallIdentity {
  readonly workspace: string;
  readonly callId: string;
}

/** Reports an attempt in memory and synchronously, so that the next plan of this process knows it. */
export function reportAttempt(
  { recorder, cooldowns }: ProviderMetricsDependencies,
  attempt: Attempt,
  call: CallIdentity,
): void {
  if (attempt.permit === undefined) return;
  const { outcome, latencyMs, firstOutputMs, candidate } = attempt;
  const entry = entryOf(candidate);
  if (outcome === 'ok') {
    const firstToken = firstOutputMs === undefined ? {} : { firstTokenMs: firstOutputMs };
    recorder.record({ ...entry, latencyMs, ...firstToken, outcome });
    return;
  }
  if (outcome.isOurFault === true) return;
  const isRefused = outcome.refusedCredential === true || outcome.hasNoQuota === true;
  const counted = isRefused ? 'refused' : countedOutcomes[outcome.kind];
  if (counted !== undefined) recorder.record({ ...entry, latencyMs, outcome: counted });
  // The provider answered, and waiting would not make the answer smaller.
  if (outcome.unusedAnswer !== undefined) return;
  // A request that the provider rejected as invalid starts no cooldown.
  const { kind, retryAfterSeconds = 0 } = outcome;
  if (kind !== 'failed' && kind !== 'rate_limited') return;
  cooldowns.report(entry, {
    ...call,
    isRateLimited: kind === 'rate_limited' || (isRefused && candidate.provider.credential !== undefined),
    unreached: outcome.connectionFault,
    retryAfterMs: retryAfterSeconds * 1_000,
  });
}

/**
 * Returns the work after the last byte, which corrects the limit counters to the real tokens and writes pending data.
 * Everything is awaited, because a process that Lambda freezes during a refresh would continue the refresh in the next
 * request.
 */
export function settleAttempts(
  { limiter, recorder, cooldowns, statistics, credentials, clock }: ProviderMetricsDependencies,
  attempts: readonly Attempt[],
): readonly (() => Promise<unknown> | undefined)[] {
  const works: (() => Promise<unknown> | undefined)[] = [];
  let isRefused = false;
  for (const { permit, tokens, outcome } of attempts) {
    if (permit === undefined) continue;
    works.push(() => retryWrite(clock, () => limiter.settle(permit, tokens)));
    isRefused ||= outcome !== 'ok' && outcome.refusedCredential === true;
  }
  works.push(
    () => recorder.flush(),
    () => cooldowns.flush(),
    () => statistics.settled(),
  );
  // A credential may have been replaced in its store, and the next call should use the new credential.
  if (isRefused) works.push(() => credentials.refresh());
  return works;
}

/** Returns the attempts that are evidence about the provider, for alerts. */
export const endedAttempts = (
  cooldowns: Pick<Cooldowns, 'coolingFor' | 'lastFailure'>,
  attempts: readonly Attempt[],
): EndedAttempt[] =>
  attempts.flatMap(({ candidate, permit, outcome, startedAtMs }) => {
    const state = permit === undefined ? undefined : stateOf(outcome);
    if (state === undefined) return [];
    const { model, provider } = candidate;
    const entry = entryOf(candidate);
    const coolsForAll = cooldowns.coolingFor(entry) === 'all' && cooldowns.lastFailure(entry) !== 'limited';
    const names = { provider: provider.id, credential: provider.credential, account: entry.provider, model: model.id };
    return [{ ...names, startedAtMs, outcome: state, coolsForAll }];
  });

function stateOf(outcome: Attempt['outcome']): EndedAttempt['outcome'] | undefined {
  if (outcome === 'ok') return outcome;
  if (outcome.isOurFault === true) return undefined;
  if (outcome.hasNoQuota === true) return 'empty';
  if (outcome.refusedCredential === true) return 'refused';
  return outcome.kind === 'failed' ? 'failed' : undefined;
}

// A call of a provider that has ended. Types only.

/** A candidate that may be called now, because its limits were checked. */
export interface AdmittedCandidate {
  readonly candidate: Candidate;
  /** Undefined if a client's key pays, whose limits the gateway does not count. */
  readonly permit: Permit | undefined;
  readonly startedAtMs: number;
  /** Id of its span; undefined when telemetry is off. */
  readonly spanId?: string | undefined;
}

export interface Attempt extends AdmittedCandidate {
  readonly outcome: 'ok' | AttemptFailure;
  /** Time until the whole answer had arrived. */
  readonly latencyMs: number;
  /** Time to the first output of a stream. */
  readonly firstOutputMs?: number | undefined;
  /** Tokens for the provider's limits: 0 for a call that failed before any output. */
  readonly tokens: number;
  /** Charge; undefined when no answer is charged. */
  readonly charge?: Charge | undefined;
  /** Describes where and by which rule the answer fails the schema of the call, if it does. */
  readonly schemaMismatch?: string | undefined;
  /** Describes how the provider was called, if it answered. */
  readonly reachedVia?: ReachedVia | undefined;
  /** Metadata of the answer. */
  readonly details?: AnswerDetails | undefined;
}
