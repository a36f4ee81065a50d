// The Idempotency-Key (contract 7): run, replay, conflict, or still running.
import { fail } from '../../../shared/errors/index.ts';
import { leaseMs } from '../../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { type Claim, granted, refused } from './claim.ts';

export async function claimIdempotency(
  { idempotency, clock }: ChatDependencies,
  call: IdentifiedCall,
  owner: string,
): Promise<Claim> {
  const { idempotencyKey: key, workspace, arrivedAtMs } = call;
  if (key === undefined) return granted();
  const claimant = { workspace: workspace.id, key, owner };
  const giveBack = () => idempotency.release(claimant);
  try {
    const nowMs = clock.nowMs();
    const outcome = await idempotency.claim({
      ...claimant,
      fingerprint: call.fingerprint(),
      nowMs,
      leaseUntilMs: arrivedAtMs + leaseMs,
    });
    switch (outcome.kind) {
      case 'claimed':
        return granted(giveBack);
      case 'conflict':
        return refused('idempotency', fail('idempotency_conflict'));
      case 'running': {
        // No later than the lease ends: then a retry takes over.
        const leaseSeconds = Math.ceil((outcome.leaseUntilMs - nowMs) / 1_000);
        const retryAfterSeconds = Math.min(retryAfterMaxSeconds, leaseSeconds);
        return refused('idempotency', fail('execution_in_progress', { retryAfterSeconds }));
      }
      case 'done':
        return { verdict: { rank: 'idempotency', ready: { kind: 'replay', result: outcome.result } } };
    }
  } catch (error) {
    // It may have been written all the same.
    if (error instanceof StoreUnavailable) return { ...refused('idempotency', error), giveBack };
    throw error;
  }
}

/** Most calls end within seconds, so whoever waits longer waits too long. */
const retryAfterMaxSeconds = 2;
