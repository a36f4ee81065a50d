// The response cache (contract 3): where an answer is there already, nothing else is needed, credit included.
import { cacheKey } from '../../../shared/accounting/response-cache/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { CacheUse, RoutedCall } from '../stages.ts';
import { type Claim, granted } from './claim.ts';

export type CachedClaim = Claim & { readonly use?: CacheUse | undefined };

const ttlDefaultSeconds = 300;

export async function claimCached(
  { responseCache, clock }: ChatDependencies,
  call: RoutedCall,
  owner: string,
): Promise<CachedClaim> {
  const { cache } = call.request;
  if (cache === undefined) return granted();
  // Nothing under an effective zdr is stored, so nothing can be found.
  if (cache.enabled === false || call.policy.zdr === true) {
    return { ...granted(), use: { outcome: 'BYPASS', store: undefined } };
  }
  const [{ model }] = call.plan;
  const { only, ignore } = call.request.provider;
  const namespace = cache.namespace ?? undefined;
  const parts = { workspace: call.workspace.id, policy: call.policy, namespace, only, ignore, body: call.request.raw };
  // Of `auto` another model than the first may answer, and its answer is no answer of the first.
  const keyOf = (modelId: string) => cacheKey({ ...parts, model: modelId });
  const store = { keyOf, ttlSeconds: cache.ttl ?? ttlDefaultSeconds };
  if (cache.refresh === true) return { ...granted(), use: { outcome: 'REFRESH', store } };
  const answer = await responseCache.read(keyOf(model.id), clock.nowMs());
  if (answer === undefined) return { ...granted(), use: { outcome: 'MISS', store } };
  return { verdict: { rank: 'cache', ready: { kind: 'cached', answer, call, owner } } };
}
