// The provider loop: take a turn, call, classify, until somebody answers. A fallback happens before the first real
// output or never.
import { reservePerCandidateMs } from '../../../shared/foundation/constants/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import { countFailure } from '../accounts.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { ClaimedCall, ProvidedCall } from '../stages.ts';
import { attempt } from './attempt.ts';
import { createOutputCheck } from './check-output.ts';
import { conclude } from './conclude.ts';
import { createQueue } from './queue.ts';

export async function provide(deps: ChatDependencies, call: ClaimedCall): Promise<ProvidedCall> {
  const { ending } = call;
  const loopStartedAtMs = deps.clock.nowMs();
  const queue = createQueue(deps, call);
  const output = createOutputCheck(deps, call);
  const failures: AttemptFailure[] = [];
  try {
    while (queue.waiting() > 0 && !call.deadline.isOver() && !call.scope.clientGone.aborted) {
      const turn = await queue.next();
      if ('retryAfterSeconds' in turn) {
        failures.push({ kind: 'rate_limited', retryAfterSeconds: turn.retryAfterSeconds, cause: 'own_limit' });
        break;
      }
      ending.attempts += 1;
      ending.turn = turn;
      const outcome = await attempt(deps, call, turn, silenceLimitMs(call.deadline.remainingMs(), queue.waiting()));
      if (outcome.kind === 'failure') {
        countFailure(deps, call.scope, turn, outcome.failure);
        failures.push(outcome.failure);
        continue;
      }
      ending.firstOutputAtMs = outcome.answeredAtMs;
      const verdict = await output.judge(turn, outcome);
      if (verdict.kind === 'accepted') {
        return { success: verdict.success, turn, attempts: ending.attempts, promptBytes: outcome.promptBytes };
      }
      if (verdict.kind === 'exhausted') break;
      queue.again(turn.candidate);
    }
  } finally {
    ending.causes = failures.map(({ cause }) => cause);
    ending.upstreamMs = deps.clock.nowMs() - loopStartedAtMs;
  }
  const deadlineIsOver = call.deadline.isOver();
  throw conclude(failures, { attempts: ending.attempts, deadlineIsOver, outputMisses: output.misses() });
}

/** How long a provider may stay silent: each one behind it keeps at least 10 seconds, or an even share of less. */
function silenceLimitMs(remainingMs: number, behind: number): number {
  // The last one has until the deadline, which ends a call with a code of its own.
  if (behind === 0) return Number.POSITIVE_INFINITY;
  return Math.max(remainingMs - behind * reservePerCandidateMs, remainingMs / (behind + 1));
}
