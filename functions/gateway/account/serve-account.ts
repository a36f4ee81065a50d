// The account interface of a key: its limits, the workspace's credit, the record of one call. No secret, no prompt, no
// answer, nothing of another workspace.
import { callDocument } from '../../../shared/accounting/call-records/index.ts';
import { readKeySpending } from '../../../shared/accounting/holds/index.ts';
import { type KeyRecord, readCredential, readKeyRecord } from '../../../shared/configuration/keys/index.ts';
import { fail, okStatus } from '../../../shared/errors/index.ts';
import { refusalRecordsPerSecond } from '../../../shared/foundation/constants/index.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../../shared/foundation/money/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import { type Endpoint, jsonHeaders, type RequestScope } from '../../../shared/protocol/router/index.ts';
import { type Item, startAdmissionTime } from '../../../shared/storage/store/index.ts';
import { findKey } from '../admission/identify.ts';
import { countKeyRequest, keyErrorOf } from '../admission/reserve-key.ts';
import type { GatewayDependencies } from '../dependencies.ts';

type Read = (deps: GatewayDependencies, key: OwnKey, request: GatewayRequest) => object | Promise<object>;

/** GET /key. */
export const serveKey = (deps: GatewayDependencies): Endpoint =>
  serve(deps, ({ clock, keyRequestsPerMinute }, { record, item }) =>
    keyDocument({ record, spending: readKeySpending(item, clock.nowMs()) }, keyRequestsPerMinute),
  );

/** GET /credits. */
export const serveCredits = (deps: GatewayDependencies): Endpoint => serve(deps, readCredits);

/** GET /generation?id=. */
export const serveGeneration = (deps: GatewayDependencies): Endpoint => serve(deps, readGeneration);

const serve =
  (deps: GatewayDependencies, read: Read): Endpoint =>
  async (request, scope) => {
    // A client asks for the record of its call as soon as it has the answer.
    await scope.earlierSettled();
    const reading = identifyKey(deps, request, scope).then((key) => read(deps, key, request));
    // The store gets two seconds to answer.
    const data = await startAdmissionTime(deps.clock).wait(reading);
    return { status: okStatus, headers: jsonHeaders, body: JSON.stringify({ data }) };
  };

interface ShownKey extends Pick<OwnKey, 'record'> {
  readonly spending: ReturnType<typeof readKeySpending>;
}

/** Spending is counted on a key that has a limit, since the last reset of it. `defaultRpm`: of a key without its own. */
export function keyDocument({ record, spending }: ShownKey, defaultRpm?: number) {
  const { name, workspace, status, spendLimitReset, expiresAtMs, models } = record;
  return {
    name,
    workspace,
    status,
    rpm: record.rpm ?? defaultRpm ?? null,
    limit_usd: spending && formatUsd(spending.limit),
    limit_reset: spendLimitReset,
    usage_usd: spending && formatUsd(spending.spent),
    // A limit that was lowered may lie below what was spent.
    limit_remaining_usd: spending && formatUsd(atLeastNothing(spending.limit - spending.spent - spending.held)),
    expires_at: instantOf(expiresAtMs),
    models,
    is_free_tier: false,
  };
}

async function readCredits({ credit, workspaces }: GatewayDependencies, { record }: OwnKey) {
  const { id, credit_shards: shards, spend_limit_usd: limit } = await workspaces.read(record.workspace);
  const spendLimit = limit === null ? null : (parseUsd(limit) ?? null);
  const { granted, spent, available } = await credit.show({ workspace: id, shards, spendLimit });
  return {
    total_credits: formatUsd(granted),
    total_usage: formatUsd(spent),
    remaining: formatUsd(atLeastNothing(available)),
  };
}

const atLeastNothing = (amount: PicoUsd): PicoUsd => (amount > 0n ? amount : 0n);

async function readGeneration({ records }: GatewayDependencies, { record }: OwnKey, { query }: GatewayRequest) {
  const [id, ...more] = new URLSearchParams(query).getAll('id');
  if (id === undefined || id === '' || more.length > 0) {
    throw fail('invalid_request', {
      message: 'id: is missing or sent twice; it is the x-request-id of the answer',
      param: 'id',
    });
  }
  const found = await records.find(record.workspace, id.toLowerCase());
  if (found === undefined) {
    const message =
      'There is no record of a call with this id. It is written when the call has ended, for 90 days; ' +
      `of refused calls at most ${refusalRecordsPerSecond} a second and key are recorded.`;
    throw fail('not_found', { message });
  }
  return callDocument(found);
}

// Whose request it is, for what a key may see of itself. It counts against the key's requests per minute and costs nothing.

interface OwnKey {
  readonly record: KeyRecord;
  /** The item with its current counters, beside the record. */
  readonly item: Item;
}

/** Throws in this order: a restoration of the tables, key, requests per minute, correlation headers. */
async function identifyKey(
  deps: GatewayDependencies,
  { headers }: GatewayRequest,
  scope: RequestScope,
): Promise<OwnKey> {
  const credential = readCredential(headers);
  // It counts this request, so it must not be told while the gateway is paused.
  await deps.catalogue.current();
  const known = await findKey(deps, { credential, scope });
  const admission = await countKeyRequest(deps, { ...credential, known });
  const error = keyErrorOf(admission, credential, false);
  if (admission.kind === 'unknown') throw error;
  const { item } = admission;
  const record = readKeyRecord(item, credential.publicId);
  if (record === undefined) throw error;
  if (error !== undefined) throw error;
  if (scope.correlationFault !== undefined) throw scope.correlationFault;
  return { record, item };
}
