// The events of a stream as the response cache keeps them.
import type { CacheableEvents, CachedAnswer } from '../../../shared/accounting/response-cache/index.ts';
import { collectedStreamMaxBytes } from '../../../shared/foundation/constants/index.ts';
import { jsonHeaders, streamHeaders } from '../../../shared/protocol/router/index.ts';
import type { EventText } from '../../../shared/protocol/wire/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import type { ReachedVia } from '../../../shared/routing/formats/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { answerStatus } from '../exit/exit.ts';
import type { AdmittedPlain } from '../stages.ts';

interface EventKeeper {
  /** Undefined when nothing is kept. */
  readonly add: ((event: EventText) => void) | undefined;
  /** Undefined when nothing was kept, or it is too much. */
  readonly content: () => CachedAnswer['content'] | undefined;
}

/** Bound of a stored stream: read again, each event is an object. */
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

/** Writes a complete answer into the response cache; undefined when it is not to be stored. */
export function cacheWriter(
  { responseCache, clock }: GatewayDependencies,
  { holdings: { cache } }: AdmittedPlain,
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
