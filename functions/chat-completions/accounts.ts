// Everybody who counts provider calls hears of each one exactly once: statistics, cooldowns, the limiter. Nothing here
// waits: what must be written is written after the client's last byte. A call paid with a client's own key counts for
// nobody: its limits are not ours, and a wrong key of one client must not cool a provider for the others.
import type { RequestScope } from '../../shared/protocol/router/index.ts';
import type { AttemptFailure, FailureKind } from '../../shared/routing/providers/index.ts';
import type { ChatDependencies } from './dependencies.ts';
import type { Turn } from './stages.ts';

/** What a provider that failed, or named no time itself, is left alone for. */
const cooldownMs = { failed: 10_000, rate_limited: 15_000 };

/** Statistics count what a provider did. Our own deadline and a client that left say nothing about it. */
const outcomes: Partial<Record<FailureKind, 'failed' | 'rate_limited' | 'invalid'>> = {
  failed: 'failed',
  rate_limited: 'rate_limited',
  invalid: 'invalid',
};

const entryOf = ({ candidate }: Turn) => ({ provider: candidate.provider.id, model: candidate.model.id });

/** `tokens`: what the call took all the same, before it failed. */
export function countFailure(
  deps: ChatDependencies,
  scope: RequestScope,
  turn: Turn,
  failure: AttemptFailure,
  tokens = 0,
): void {
  const { permit } = turn;
  if (permit === undefined) return;
  const latencyMs = deps.clock.nowMs() - turn.startedAtMs;
  const outcome = outcomes[failure.kind];
  if (outcome !== undefined) deps.recorder.record({ ...entryOf(turn), latencyMs, outcome });
  // A caller's own 400 never cools anybody.
  if (failure.kind === 'failed' || failure.kind === 'rate_limited') {
    const askedMs = (failure.retryAfterSeconds ?? 0) * 1_000;
    deps.cooldowns.report(entryOf(turn), askedMs || cooldownMs[failure.kind]);
  }
  // A credential may have been replaced where it is kept: the next call should have the new one.
  if (failure.refusedCredential === true) scope.afterwards.add(() => deps.credentials.refresh());
  scope.afterwards.add(() => deps.limiter.settle(permit, tokens));
}

export interface AnswerFacts {
  readonly latencyMs: number;
  readonly firstTokenMs?: number | undefined;
  readonly tokens: number;
}

export function countAnswer(deps: ChatDependencies, scope: RequestScope, turn: Turn, facts: AnswerFacts): void {
  const { permit } = turn;
  if (permit === undefined) return;
  const { latencyMs, firstTokenMs, tokens } = facts;
  const firstToken = firstTokenMs === undefined ? {} : { firstTokenMs };
  deps.recorder.record({ ...entryOf(turn), latencyMs, ...firstToken, outcome: 'ok' });
  scope.afterwards.add(() => deps.limiter.settle(permit, tokens));
}

/** Once per request, when nothing more will be counted. */
export async function closeAccounts(deps: ChatDependencies): Promise<void> {
  // A process that is put to sleep halfway through a refresh would leave it to the next one to find out.
  await Promise.all([deps.recorder.flush(), deps.cooldowns.flush(), deps.statistics.settled()]);
}
