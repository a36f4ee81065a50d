// Collects the events of a stream for the response cache.
import type { CacheableEvents, CachedAnswer } from '../../../shared/accounting/response-cache/index.ts';
import { collectedStreamMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { jsonHeaders, streamHeaders } from '../../../shared/protocol/router/index.ts';
import type { EventText } from '../../../shared/protocol/wire/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import type { ReachedVia } from '../../../shared/routing/formats/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { answerStatus } from '../exit/exit.ts';
import type { AdmittedCall } from '../stages.ts';

interface EventKeeper {
  /** Adds an event; undefined if the answer is not cached. */
  readonly add: ((event: EventText) => void) | undefined;
  /** Returns undefined if the answer is not cached, or is too long. */
  readonly content: () => CachedAnswer['content'] | undefined;
}

/**
 * Maximum number of characters of a stored stream. The stream is bounded because each event becomes an object when it
 * is read.
 */
const cacheableEventsMax = 32_768;

export function keepEvents(isKept: boolean): EventKeeper {
  if (!isKept) return { add: undefined, content: () => undefined };
  const chunks: CacheableEvents[number][] = [];
  let length = 0;
  return {
    add({ name, text }) {
      length += chunks.length === cacheableEventsMax ? Number.POSITIVE_INFINITY : text.length;
      if (length <= collectedStreamMaxBytes) chunks.push(name === undefined ? text : [name, text]);
    },
    content: () => (length <= collectedStreamMaxBytes ? { kind: 'stream', chunks } : undefined),
  };
}

/**
 * Returns a function that writes a complete answer into the response cache; undefined if the answer is not to be
 * stored.
 */
export function cacheWriter(
  { responseCache, clock }: GatewayDependencies,
  { reservations: { cache } }: AdmittedCall,
  { leftOut }: Pick<ReachedVia, 'leftOut'>,
  { candidate: { provider, model }, usage }: Charge,
  readContent: () => CachedAnswer['content'] | undefined,
): (() => Promise<void>) | undefined {
  const store = cache?.store;
  if (store === undefined) return undefined;
  const content = readContent();
  if (content === undefined) return undefined;
  const headers = content.kind === 'json' ? jsonHeaders : streamHeaders;
  const answer = {
    status: answerStatus,
    contentType: headers['content-type'],
    provider: provider.id,
    model: model.id,
    usage,
    content,
    leftOut: leftOut.length === 0 ? undefined : leftOut,
  };
  return () =>
    responseCache.write(store.keyOf(model.id), answer, { ttlSeconds: store.ttlSeconds, nowMs: clock.nowMs() });
}
