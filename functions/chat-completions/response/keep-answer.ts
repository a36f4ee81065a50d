// Keeping a complete answer: under its Idempotency-Key before the client has its end, and in the response cache after.
import { headerNames } from '../../../shared/names/index.ts';
import type { CachedAnswer } from '../../../shared/response-cache/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { Claimed, ClaimedCall } from '../stages.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A replay is the same answer on another day: these headers belong to the answer, all others to the request. */
const keptHeaders: readonly string[] = [
  'content-type',
  'cache-control',
  'x-accel-buffering',
  headerNames.model,
  headerNames.provider,
];

type KeyOwner = Pick<
  Claimed,
  'idempotencyKey' | 'ownsIdempotencyKey' | 'workspace' | 'owner' | 'asksFunction' | 'scope'
> &
  // An answer from the cache has no provider's end to it.
  Partial<Pick<Claimed, 'ending'>>;

/**
 * Stores the answer under the call's Idempotency-Key. Never throws: the client gets its answer all the same, and a retry
 * runs again, because the claim of a call that stored nothing is released.
 */
export async function keepForReplay(deps: ChatDependencies, call: KeyOwner, answer: Answer): Promise<void> {
  const { idempotencyKey: key, ownsIdempotencyKey, workspace, owner } = call;
  if (!ownsIdempotencyKey || key === undefined) return;
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => keptHeaders.includes(name)));
  try {
    const executionId = call.asksFunction ? owner : undefined;
    const result = { status: answer.status, headers, body: answer.body, executionId };
    await deps.idempotency.complete({ workspace: workspace.id, key, owner, result, nowMs: deps.clock.nowMs() });
    // A complete answer keeps its key and its span: nothing is left to release.
    if (call.ending !== undefined) call.ending.namesAreSettled = true;
  } catch (error) {
    deps.log.error({ event: 'result_not_stored', correlation_id: call.scope.correlationId }, error);
  }
}

export function keepInCache(deps: ChatDependencies, call: ClaimedCall, answer: CachedAnswer): void {
  const store = call.cache?.store;
  if (store === undefined) return;
  call.scope.afterwards.add(() =>
    deps.responseCache.write(store.keyOf(answer.model), answer, {
      ttlSeconds: store.ttlSeconds,
      nowMs: deps.clock.nowMs(),
    }),
  );
}
