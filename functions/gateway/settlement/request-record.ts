// Builds the record of a request of a known key before any provider was called.
import { type CallRecord, partsOfGateway, sumOfChecks } from '../../../shared/accounting/call-records/index.ts';
import { readKeySetting } from '../../../shared/configuration/keys/index.ts';
import type { ClientRequest } from '../../../shared/protocol/interfaces/index.ts';
import type { Tags } from '../../../shared/protocol/wire/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { ReceivedCall } from '../stages.ts';

type RecordedRequest = Pick<
  ReceivedCall,
  'clientInterface' | 'scope' | 'credential' | 'attribution' | 'tags' | 'arrivedAtMs'
>;

/** Returns the record. `request` is undefined as far as it could not be parsed. */
export function requestRecord(
  { clientInterface, scope, credential, attribution, tags, arrivedAtMs }: RecordedRequest,
  key: Item,
  request: { readonly [member in 'model' | 'user' | 'stream']: ClientRequest[member] | undefined },
  nowMs: number,
): CallRecord {
  const totalMs = nowMs - arrivedAtMs;
  return {
    workspace: String(key.workspace),
    interfaceId: clientInterface.id,
    basePath: scope.basePath,
    executionId: scope.correlationId,
    arrivedAtMs,
    keyPublicId: credential.publicId,
    keyName: String(key.name),
    ...attribution,
    tags: allTags(tags, readKeySetting(key, 'tags')),
    guardrails: sumOfChecks(scope.details.guardrailChecks),
    user: request.user,
    correlationId: scope.correlationId,
    ...scope.correlation,
    modelAsked: request.model || undefined,
    stream: request.stream === true,
    cacheHit: false,
    isByok: false,
    // A client that left got neither an error nor a whole answer.
    outcome: scope.clientGone.aborted ? 'client_gone' : 'ok',
    attempts: 0,
    attemptCauses: [],
    attemptLog: [],
    promptTokens: 0,
    cachedTokens: 0,
    completionTokens: 0,
    estimated: false,
    costPicoUsd: 0n,
    queuedMs: 0,
    totalMs,
    gatewayMs: totalMs,
    timeLine: partsOfGateway(arrivedAtMs, totalMs, scope.details.guardrailChecks),
  };
}

/**
 * Returns all tags; undefined if there are none. Tags of the key overrule tags of the request, so that no client spends
 * in another's name.
 */
function allTags(requestTags: Tags, keyTags: Tags | null): Tags | undefined {
  const all = { ...requestTags, ...keyTags };
  return Object.keys(all).length === 0 ? undefined : all;
}
