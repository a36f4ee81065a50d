// Keeping a complete answer: under its Idempotency-Key before the client has its end, and in the response cache after.

import type { CachedAnswer } from '../../../shared/accounting/response-cache/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
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
 * Stores the answer under the call's Idempotency-Key. Never throws: the client gets its answer all the same. Where the
 * store is away the answer is stored after the last byte; a call that could store nothing releases its claim, and a retry
 * runs again.
 */
export async function keepForReplay(deps: ChatDependencies, call: KeyOwner, answer: Answer): Promise<void> {
  const { idempotencyKey: key, ownsIdempotencyKey, workspace, owner } = call;
  if (!ownsIdempotencyKey || key === undefined) return;
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => keptHeaders.includes(name)));
  const executionId = call.asksFunction ? owner : undefined;
  const result = { status: answer.status, headers, body: answer.body, executionId };
  const store = async () => {
    await deps.idempotency.complete({ workspace: workspace.id, key, owner, result, nowMs: deps.clock.nowMs() });
    // A complete answer keeps its key and its span: nothing is left to release.
    if (call.ending !== undefined) call.ending.namesAreSettled = true;
  };
  const tell = (error: unknown) =>
    deps.log.error({ event: 'result_not_stored', correlation_id: call.scope.correlationId }, error);
  await store().catch((error: unknown) => {
    tell(error);
    // Settlement tries again before it would release the claim.
    if (error instanceof StoreUnavailable && call.ending !== undefined) call.ending.storeAnswer = store;
  });
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
