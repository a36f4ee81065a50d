// The end of a call's Idempotency-Key and span id. A complete answer is stored under the key; every failure
// releases it, so that the same key may run again. A span is free again only after a failure that a client may retry.
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import { retryWrite, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AnswerSource, CallClaims, ClaimsEnd, IdentifiedCall, StoredAnswer } from '../stages.ts';

/** A replay repeats these headers of the answer; all others belong to the request. */
const storedHeaders: readonly string[] = [
  'content-type',
  'cache-control',
  'x-accel-buffering',
  headerNames.model,
  headerNames.provider,
  headerNames.cost,
];

/** A large answer goes to the blob store first, which may take three seconds to fail: two tries are within the 10 s. */
const storeTriesMax = 2;

export function createCallClaims(deps: GatewayDependencies, call: IdentifiedCall, owner: string): CallClaims {
  const { idempotency, spans, clock, log } = deps;
  const { idempotencyKey: key, workspace, asksFunction, scope } = call;
  const { spanId } = scope.correlation;
  let isEnded = false;
  /** The answer that could not be stored while the client waited. */
  let unstored: (() => Promise<void>) | undefined;

  const logFailure = (error: unknown) =>
    log.error({ event: 'result_not_stored', correlation_id: scope.correlationId }, error);

  async function store(answer: StoredAnswer, source: AnswerSource | undefined): Promise<void> {
    if (key === undefined) return;
    const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => storedHeaders.includes(name)));
    const { model, provider } = source ?? {};
    const result = { ...answer, headers, model, provider, executionId: asksFunction ? owner : undefined };
    const write = async () => {
      await idempotency.complete({ workspace: workspace.id, key, owner, result, nowMs: clock.nowMs() });
      isEnded = true;
    };
    await write().catch((error: unknown) => {
      logFailure(error);
      if (error instanceof StoreUnavailable) unstored = write;
    });
  }

  async function release({ isRetryable, reachedProvider }: ClaimsEnd): Promise<void> {
    if (isEnded) return;
    await Promise.all([
      // Releases a running claim only: one that was completed stays.
      key !== undefined && idempotency.release({ workspace: workspace.id, key, owner }),
      spanId !== undefined && !reachedProvider && spans.withdraw({ workspace: workspace.id, spanId, owner }),
      spanId !== undefined &&
        reachedProvider &&
        isRetryable &&
        spans.release({ workspace: workspace.id, spanId, owner }),
    ]);
    isEnded = true;
  }

  async function settle(end: ClaimsEnd, deadline: Deadline): Promise<void> {
    if (unstored !== undefined) {
      await retryWrite(clock, unstored, { triesMax: storeTriesMax, deadline }).catch(logFailure);
    }
    await retryWrite(clock, () => release(end), { deadline });
  }
  return { store, release, settle };
}
