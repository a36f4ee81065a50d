// Finds an answer in the response cache. If an answer is stored, the call reserves nothing else, not even credit.
import {
  type CacheableEvents,
  type CachedAnswer,
  type CacheKey,
  openCacheKeys,
} from '../../../shared/accounting/response-cache/index.ts';
import { type GuardrailDocument, readBedrockName } from '../../../shared/configuration/catalogue/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import type { AnswerEvent, EventText } from '../../../shared/protocol/wire/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { CallClaims, ReadCachedContent, RoutedCall } from '../stages.ts';
import type { Reservation, ReservationResult } from './reservation.ts';

const ttlDefaultSeconds = 300;

export function findCached(
  { responseCache, clock }: GatewayDependencies,
  call: RoutedCall,
  {
    owner,
    claims,
    guardrails,
  }: {
    readonly owner: string;
    readonly claims: CallClaims;
    readonly guardrails?: readonly GuardrailDocument[] | undefined;
  },
): Reservation | undefined {
  const { identified, effective, terms } = call;
  const { cache, provider, text, path, model, namesModelsOf } = effective.request;
  const { clientInterface, passedOn, scope } = identified.parsed;
  if (cache === undefined) return undefined;
  async function reserve(): Promise<ReservationResult> {
    // Nothing is stored under zdr, so nothing can be found.
    if (cache?.enabled === false || terms.policy.zdr === true) return cacheUse('BYPASS');
    const namespace = cache?.namespace ?? undefined;
    const { only, ignore, order, allowFallbacks } = provider;
    const choice = { only, ignore, order: allowFallbacks || order.length === 0 ? undefined : order };
    // With `auto` another model than the first may answer, and the answer is stored under a key with that model.
    const keysOf = openCacheKeys({
      interfaceId: clientInterface.id,
      operation: path?.operation,
      region: namesModelsOf && readBedrockName(model).region,
      workspace: identified.workspace.id,
      policy: terms.policy,
      namespace,
      ...choice,
      body: text(),
      passedOn,
      guardrails,
      leftOut: clientInterface.leftOutOfCacheKey(text()),
    });
    const keyOf = (modelId: string) => keysOf(modelId)[0] as CacheKey;
    const store = { keyOf, ttlSeconds: cache?.ttl ?? ttlDefaultSeconds };
    if (cache?.refresh === true) return cacheUse('REFRESH', store);
    const allocation = scope.memory.openAnswer();
    const answer = await responseCache.read(keysOf(effective.plan[0].model.id), clock.nowMs(), { allocation });
    const content = answer && (await allocation.during(() => readCached(call, answer)));
    if (answer === undefined || content === undefined) return cacheUse('MISS', store);
    return {
      resolution: {
        rank: 'cache',
        existingAnswer: { kind: 'cached', allocation, answer, content, call, owner, claims },
      },
    };
  }
  return { rank: 'cache', reserve };
}

type CacheUse = NonNullable<NonNullable<ReservationResult['reservations']>['cache']>;

const cacheUse = (outcome: CacheUse['outcome'], store?: CacheUse['store']): ReservationResult => ({
  reservations: { cache: { outcome, store } },
});

/** Number of events that are read within a few milliseconds. */
const turnMaxEvents = 256;

/** Returns undefined for an answer that this release cannot read, because another release has stored it. */
async function readCached(
  { identified, effective }: RoutedCall,
  { content }: CachedAnswer,
): Promise<ReadCachedContent | undefined> {
  const { clientInterface } = identified.parsed;
  if (content.kind === 'json') {
    const read = await clientInterface.readAnswer(content.text);
    return read.kind === 'answer' ? { kind: 'json', answer: read.answer } : undefined;
  }
  const reader = clientInterface.openEventReader(effective.size.choices);
  const events: AnswerEvent[] = [];
  for (const [at, text] of eventTextsOf(content.chunks).entries()) {
    if (at % turnMaxEvents === turnMaxEvents - 1) await nextTurn();
    const reading = reader.read(text);
    if (reading.kind !== 'event') return undefined;
    events.push(reading.event);
  }
  return { kind: 'stream', events };
}

const eventTextsOf = (events: CacheableEvents): EventText[] =>
  events.map((event) => (typeof event === 'string' ? { text: event } : { name: event[0], text: event[1] }));
