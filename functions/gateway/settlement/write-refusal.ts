// The record of a call of a known key that was refused before it could run, so that its id tells the operator why.
import type { CallRecord } from '../../../shared/accounting/call-records/index.ts';
import { parseFunctionAlias } from '../../../shared/configuration/stored-functions/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { maskKeys } from '../../../shared/foundation/log/index.ts';
import { toGatewayError } from '../../../shared/protocol/router/index.ts';
import { type Item, retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ReceivedCall } from '../stages.ts';
import { tagsOf } from './call-tags.ts';

/**
 * Runs after the answer. `key`: rejects where there is no such key, and then nothing is written. A key whose calls are
 * refused many times a second leaves a record of a few of them, and a log line of each.
 */
export async function writeRefusal(
  deps: GatewayDependencies,
  received: ReceivedCall,
  key: Promise<Item>,
  cause: unknown,
): Promise<void> {
  const { records, refusalQuota, clock } = deps;
  const keyItem = await key.catch(() => undefined);
  const error = toGatewayError(cause);
  if (keyItem === undefined) return;
  const { logContext } = received.scope;
  const caller = {
    workspace_id: String(keyItem.workspace),
    key_id: String(keyItem.pk),
    key_name: String(keyItem.name),
  };
  logContext.fields = { ...caller, ...logContext.fields, message: maskKeys(error.message) };
  const tags = tagsOf(deps, received, keyItem);
  logContext.tags = tags;
  if (!refusalQuota.take(received.credential.publicId)) return;
  const record = { ...toRecord(received, keyItem, error, clock.nowMs()), tags };
  await retryWrite(clock, () => records.write(record));
}

function toRecord(received: ReceivedCall, keyItem: Item, error: GatewayError, nowMs: number): CallRecord {
  const { scope, credential, attribution, arrivedAtMs } = received;
  const { model, call } = received.seen() ?? {};
  const request = call === undefined || call instanceof GatewayError ? undefined : call.request;
  const totalMs = nowMs - arrivedAtMs;
  return {
    workspace: String(keyItem.workspace),
    interfaceId: received.clientInterface.id,
    basePath: scope.basePath,
    executionId: scope.correlationId,
    arrivedAtMs,
    keyPublicId: credential.publicId,
    keyName: String(keyItem.name),
    ...attribution,
    user: request?.user,
    correlationId: scope.correlationId,
    ...scope.correlation,
    functionId: model === undefined ? undefined : parseFunctionAlias(model)?.functionId,
    modelAsked: model,
    stream: request?.stream === true,
    cacheHit: false,
    isByok: false,
    outcome: error.code,
    errorMessage: error.message,
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
  };
}
