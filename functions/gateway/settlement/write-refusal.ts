// Writes the record of a known key's call that was refused before it could run, so that the operator can look up the
// reason by the call's id.
import type { CallRecord } from '../../../shared/accounting/call-records/index.ts';
import { parseFunctionAlias } from '../../../shared/configuration/stored-functions/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { maskKeys } from '../../../shared/foundation/log/index.ts';
import { startDeadline } from '../../../shared/foundation/time/index.ts';
import { toGatewayError } from '../../../shared/protocol/router/index.ts';
import { type Item, retryWrite } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { CallContent, PlannedCall, ReceivedCall } from '../stages.ts';
import { requestFields } from './call-details.ts';
import { requestRecord } from './request-record.ts';
import { contentOf } from './settle.ts';

export interface RefusedBodies {
  /** Opens the content log of the call; undefined if no bodies may be stored. */
  openContent?: (key: Item) => Promise<CallContent | undefined> | undefined;
}

/**
 * Opens the content log once the call is planned. A call that cannot be planned has no data policy yet, so no part of
 * the call is stored.
 */
export function noteContent(
  deps: GatewayDependencies,
  refusal: RefusedBodies,
  planned: PlannedCall | GatewayError,
): void {
  if (planned instanceof GatewayError) return;
  refusal.openContent = (key) => contentOf(deps, { planned, key });
}

/** The same limit as for an answer that exists already. */
const contentBudgetMs = 1_500;

/**
 * Writes the record after the answer. `key` rejects if the key does not exist, and then nothing is written. If a key's
 * calls are refused many times a second, only a few calls get records, but each call gets a log line.
 */
export async function writeRefusal(
  deps: GatewayDependencies,
  receivedCall: ReceivedCall,
  key: Item | Promise<Item>,
  { error: cause, openContent }: RefusedBodies & { readonly error: unknown },
): Promise<void> {
  const { records, refusalQuota, keyCache, clock } = deps;
  const found = await Promise.resolve(key).catch(() => undefined);
  const error = toGatewayError(cause);
  if (found === undefined) return;
  // The record shows the key as the refusal found it.
  const item = keyCache.get(receivedCall.credential.publicId) ?? found;
  const { model, call } = receivedCall.parsedSoFar() ?? {};
  const request = call === undefined || call instanceof GatewayError ? undefined : call.clientBody.request;
  const record: CallRecord = {
    ...requestRecord(receivedCall, item, { model, user: request?.user, stream: request?.stream }, clock.nowMs()),
    functionId: model === undefined ? undefined : parseFunctionAlias(model)?.functionId,
    outcome: error.code,
    errorMessage: error.message,
    unlistedModel: error.isUnlisted ? true : undefined,
  };
  const fields = {
    ...requestFields(model, request?.stream),
    message: maskKeys(error.message),
    unlisted_model: error.isUnlisted || undefined,
  };
  receivedCall.scope.details.call = { tags: record.tags, fields };
  if (!refusalQuota.take(record.keyPublicId)) return;
  const content = isBlocked(receivedCall, error) ? await openContent?.(item) : undefined;
  if (content === undefined) return await retryWrite(clock, () => records.write(record));
  await content.watch(Promise.reject(error)).catch(() => {});
  const contentLog = await content.write(startDeadline(clock, clock.nowMs(), contentBudgetMs));
  await retryWrite(clock, () => records.write({ ...record, content: contentLog }));
}

/** True if a guardrail blocked the request. The bodies of other refused requests are not stored. */
const isBlocked = ({ scope }: ReceivedCall, { reason }: GatewayError): boolean =>
  reason === 'content_policy_violation' &&
  scope.details.guardrailChecks?.some(({ direction, action }) => direction === 'input' && action === 'block') === true;
