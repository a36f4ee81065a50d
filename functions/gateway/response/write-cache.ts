import type { CachedAnswer } from '../../../shared/accounting/response-cache/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { jsonHeaders, streamHeaders } from '../../../shared/protocol/router/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedPlain } from '../stages.ts';

/** Writes a complete answer into the response cache. Undefined: it is not to be kept. */
export function cacheWriter(
  { responseCache, clock }: GatewayDependencies,
  { holdings: { cache } }: AdmittedPlain,
  { candidate: { provider, model }, usage }: Charge,
  readContent: () => CachedAnswer['content'] | undefined,
): (() => Promise<void>) | undefined {
  const store = cache?.store;
  if (store === undefined) return undefined;
  const content = readContent();
  if (content === undefined) return undefined;
  const headers = content.kind === 'json' ? jsonHeaders : streamHeaders;
  const answer = {
    status: okStatus,
    contentType: headers['content-type'],
    provider: provider.id,
    model: model.id,
    usage,
    content,
  };
  return () =>
    responseCache.write(store.keyOf(model.id), answer, { ttlSeconds: store.ttlSeconds, nowMs: clock.nowMs() });
}
