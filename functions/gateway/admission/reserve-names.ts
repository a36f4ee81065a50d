// The names of a call: its Idempotency-Key and its span id.
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { type GiveBack, type Reservation, type Reserved, type Resolution, refused } from './reservation.ts';

/** Most calls end within seconds, so a longer wait would only delay the retry. */
const retryAfterMaxSeconds = 2;

const unstored =
  'The call with this Idempotency-Key is done; its answer was too long to be stored. Nothing was run or charged again.';

/** Runs, replays, conflicts, or is still running. */
export function reserveIdempotencyKey(
  { idempotency, clock, times }: GatewayDependencies,
  call: IdentifiedCall,
  owner: string,
): Reservation | undefined {
  const { idempotencyKey: key, workspace, arrivedAtMs, scope } = call;
  if (key === undefined) return undefined;
  const keyOwner = { workspace: workspace.id, key, owner };
  const giveBack = () => idempotency.release(keyOwner);
  async function reserve(): Promise<Reserved> {
    const nowMs = clock.nowMs();
    const claimant = { fingerprint: call.fingerprint(), nowMs, leaseUntilMs: arrivedAtMs + times.holdLifeMs };
    const outcome = await idempotency.claim({ ...keyOwner, ...claimant }, { memory: scope.memory });
    switch (outcome.kind) {
      case 'claimed':
        return { giveBack };
      case 'conflict':
        return refused('idempotency', fail('idempotency_conflict'));
      case 'running': {
        // No later than the lease ends: then a retry takes over.
        const leaseSeconds = Math.ceil((outcome.leaseUntilMs - nowMs) / 1_000);
        const retryAfterSeconds = Math.min(retryAfterMaxSeconds, leaseSeconds);
        return refused('idempotency', fail('execution_in_progress', { retryAfterSeconds }));
      }
      case 'done_unstored':
        return refused('idempotency', fail('idempotency_conflict', { message: unstored }));
      case 'done':
        return { resolution: { rank: 'idempotency', ready: { ...outcome, kind: 'replay' } } };
    }
  }
  return { rank: 'idempotency', reserve, giveBackUnknown: giveBack, givesBackFirst: true };
}

/** A span is used once per workspace, but a retry may bring its own again. */
export function reserveSpan(
  { spans, clock }: GatewayDependencies,
  call: IdentifiedCall,
  owner: string,
): Reservation | undefined {
  const { spanId } = call.scope.correlation;
  if (spanId === undefined) return undefined;
  const spanOwner = { workspace: call.workspace.id, spanId, owner };
  const giveBack: GiveBack = async (resolution) => {
    // A stored answer belongs to the call that used the span, a cached one is an answer like any other, and a running
    // call keeps its span. Any other refusal comes before a provider is called, so the span stays unused.
    if (resolution?.ready !== undefined || (resolution !== undefined && isRunning(resolution))) return;
    await spans.withdraw(spanOwner);
  };
  async function reserve(): Promise<Reserved> {
    const { idempotencyKey } = call;
    const nowMs = clock.nowMs();
    const { kind } = await spans.claim({ ...spanOwner, idempotencyKey, fingerprint: call.fingerprint(), nowMs });
    return kind === 'duplicate' ? refused('span', fail('duplicate_span_id')) : { giveBack };
  }
  return { rank: 'span', reserve, giveBackUnknown: giveBack, givesBackFirst: true };
}

const isRunning = (resolution: Resolution): boolean =>
  resolution.error instanceof GatewayError && resolution.error.code === 'execution_in_progress';
