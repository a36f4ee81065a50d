// The response cache: where an answer is stored, nothing else is needed, credit included.
import { type CacheKey, cacheKeys } from '../../../shared/accounting/response-cache/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { CallClaims, RoutedCall } from '../stages.ts';
import { readCached } from './read-cached.ts';
import type { Reservation, Reserved } from './reservation.ts';

const ttlDefaultSeconds = 300;

export function findCached(
  { responseCache, clock }: GatewayDependencies,
  call: RoutedCall,
  owner: string,
  names: CallClaims,
): Reservation | undefined {
  const { cache, provider, text } = call.request;
  const { clientInterface, passedOn } = call;
  if (cache === undefined) return undefined;
  async function reserve(): Promise<Reserved> {
    // Nothing under an effective zdr is stored, so nothing can be found.
    if (cache?.enabled === false || call.policy.zdr === true) return cacheUse('BYPASS');
    const namespace = cache?.namespace ?? undefined;
    const { only, ignore, order, allowFallbacks } = provider;
    const choice = { only, ignore, order: allowFallbacks || order.length === 0 ? undefined : order };
    const parts = {
      interfaceId: clientInterface.id,
      workspace: call.workspace.id,
      policy: call.policy,
      namespace,
      ...choice,
      body: text(),
      passedOn,
      leftOut: clientInterface.leftOutOfCacheKey(text()),
    };
    // With `auto` another model than the first may answer, and its answer is stored under its own key.
    const keysOf = (modelId: string) => cacheKeys({ ...parts, model: modelId });
    const keyOf = (modelId: string) => keysOf(modelId)[0] as CacheKey;
    const store = { keyOf, ttlSeconds: cache?.ttl ?? ttlDefaultSeconds };
    if (cache?.refresh === true) return cacheUse('REFRESH', store);
    const answer = await responseCache.read(keysOf(call.plan[0].model.id), clock.nowMs());
    const content = answer && (await readCached(call, answer));
    if (answer === undefined || content === undefined) return cacheUse('MISS', store);
    return { resolution: { rank: 'cache', ready: { kind: 'cached', answer, content, call, owner, names } } };
  }
  return { rank: 'cache', reserve };
}

type CacheUse = NonNullable<NonNullable<Reserved['holdings']>['cache']>;

const cacheUse = (outcome: CacheUse['outcome'], store?: CacheUse['store']): Reserved => ({
  holdings: { cache: { outcome, store } },
});
