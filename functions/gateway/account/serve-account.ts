// Serves the account interface of a key: its limits, the workspace's credit, the record of one call. The interface
// shows no secret, prompt or answer, and nothing of another workspace.
import { callDocument } from '../../../shared/accounting/call-records/index.ts';
import { readKeySpending } from '../../../shared/accounting/holds/index.ts';
import { fail, okStatus } from '../../../shared/errors/index.ts';
import { refusalRecordsPerSecond } from '../../../shared/foundation/constants/index.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../../shared/foundation/money/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import { type Endpoint, jsonHeaders } from '../../../shared/protocol/router/index.ts';
import { startAdmissionTime } from '../../../shared/storage/store/index.ts';
import { type CountedKey, identifyKey } from '../admission/identify-key.ts';
import type { GatewayDependencies } from '../dependencies.ts';

type Read = (deps: GatewayDependencies, key: CountedKey, request: GatewayRequest) => object | Promise<object>;

/** Serves GET /key. */
export const serveKey = (deps: GatewayDependencies): Endpoint =>
  serve(deps, ({ clock, keyRequestsPerMinute }, { record, item }) =>
    keyDocument({ record, spending: readKeySpending(item, clock.nowMs()) }, keyRequestsPerMinute),
  );

/** Serves GET /credits. */
export const serveCredits = (deps: GatewayDependencies): Endpoint => serve(deps, readCredits);

/** Serves GET /generation?id=. */
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

interface ShownKey extends Pick<CountedKey, 'record'> {
  readonly spending: ReturnType<typeof readKeySpending>;
}

/**
 * Describes a key. The key's spending is counted since the last reset. `defaultRpm` is the limit of keys without a
 * limit of their own.
 */
export function keyDocument({ record, spending }: ShownKey, defaultRpm?: number) {
  const { name, workspace, status, spendLimitReset, expiresAtMs, models } = record;
  const { limit, spent, held } = spending;
  return {
    name,
    workspace,
    status,
    rpm: record.rpm ?? defaultRpm ?? null,
    limit_usd: limit === null ? null : formatUsd(limit),
    limit_reset: spendLimitReset,
    usage_usd: formatUsd(spent),
    // After a limit was lowered, the spent amount may exceed the limit.
    limit_remaining_usd: limit === null ? null : formatUsd(atLeastNothing(limit - spent - held)),
    expires_at: instantOf(expiresAtMs),
    models,
    is_free_tier: false,
  };
}

async function readCredits({ credit, workspaces }: GatewayDependencies, { record }: CountedKey) {
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

async function readGeneration({ records }: GatewayDependencies, { record }: CountedKey, { query }: GatewayRequest) {
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
