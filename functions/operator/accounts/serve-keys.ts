// Serves GET and POST /v1/manage/keys, PATCH /v1/manage/keys/{public_id}, and POST /v1/manage/keys/{public_id}/rotate.
// API keys have the field names of the gateway file. Only the answer that makes a key contains its text. Editors change
// the keys of their workspaces, and members change their own.
import {
  ChangeFailed,
  createKey,
  type KeyFigures,
  readKey,
  readKeyFigures,
  refuseUnansweredKey,
  rotateKey,
  updateKey,
} from '../../../shared/configuration/administration/index.ts';
import { fromWrittenKey, isKeyExpired, type KeyRecord, writtenKey } from '../../../shared/configuration/keys/index.ts';
import type { Documents, ReadBody } from '../../../shared/configuration/management/index.ts';
import { formatUsd, parseUsd } from '../../../shared/foundation/money/index.ts';
import { collect, mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { dayMs, instantOf } from '../../../shared/foundation/time/index.ts';
import { formatTags } from '../../../shared/protocol/wire/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { mayRead } from '../request/allowed.ts';
import type { ManageRequest, RouteWork } from '../request/manage.ts';
import { pageOf } from '../request/pages.ts';
import { allowChange, allowNewKey, ownsKey } from './key-permissions.ts';
import { lastAlertDocument } from './last-alert-document.ts';

export const listKeys: RouteWork<'GET /keys'> = async (deps, { operator, query }) => {
  const { workspace, owner, usable, ...page } = query;
  const nowMs = deps.clock.nowMs();
  const isAsked = (key: KeyRecord) =>
    (mayRead(operator, key.workspace) || ownsKey(operator, key)) &&
    (owner === undefined || key.owner === owner) &&
    (workspace === undefined || key.workspace === workspace) &&
    (usable === undefined || (key.status === 'active' && !isKeyExpired(key, nowMs)));
  const { items, next_cursor } = pageOf(
    (await collect(deps.keys.list())).filter(isAsked),
    page,
    (key) => [key.workspace, key.name, key.publicId],
    (key) => [key.workspace, key.name, key.publicId, key.owner, formatTags(key.tags ?? {})],
  );
  const figures = await mapParallel(items, parallelReads, (record) => readKeyFigures(deps, record));
  return { data: figures.map(keyDocument), next_cursor };
};

export const makeKey: RouteWork<'POST /keys'> = async (deps, request) => {
  const { workspace, ...written } = request.body;
  const allowed = await allowNewKey(deps, request.operator, workspace, changesOf(written));
  const { publicId, text } = await createKey(deps, { ...allowed, workspace, name: written.name });
  request.tellChange('key created', `${workspace}/${publicId}`);
  return { data: { ...(await newKeyDocument(deps, publicId)), key: text } };
};

export const changeKey: RouteWork<'PATCH /keys/{public_id}'> = async (deps, request) => {
  const { status, ...written } = request.body;
  const before = await readAllowed(deps, request);
  const changes = { ...changesOf(written), ...(status === undefined ? {} : { status }) };
  await allowChange(deps, request.operator, before, changes);
  const { change, key } = await updateKey(deps, before.publicId, changes);
  const statusChange = status === 'revoked' ? 'key revoked' : 'key activated';
  const what = status === undefined || status === before.status ? 'key changed' : statusChange;
  if (change !== 'unchanged') request.tellChange(what, `${before.workspace}/${before.publicId}`);
  return { data: keyDocument(key) };
};

export const rotate: RouteWork<'POST /keys/{public_id}/rotate'> = async (deps, request) => {
  const { grace: graceMs = dayMs, expires_at: end } = request.body;
  const former = await readAllowed(deps, request);
  const expiresAtMs = typeof end === 'string' ? Date.parse(end) : end;
  const { claim } = await allowChange(deps, request.operator, former, { expiresAtMs });
  const rotation = { workspace: former.workspace, name: former.name, publicId: former.publicId };
  const { publicId, text, former: ending } = await rotateKey(deps, { ...rotation, graceMs, expiresAtMs, claim });
  request.tellChange('key rotated', `${former.workspace}/${former.publicId}`);
  const ends = { public_id: ending.publicId, expires_at: instantOf(ending.expiresAtMs) };
  return { data: { ...(await newKeyDocument(deps, publicId)), key: text, former: ends } };
};

/** Returns the key that the path names. Throws ChangeFailed if the operator may see no key of this id. */
async function readAllowed(
  deps: ManagementDependencies,
  { names: { public_id: publicId }, operator }: ManageRequest<'PATCH /keys/{public_id}'>,
): Promise<KeyRecord> {
  const record = await readKey(deps, publicId);
  if (mayRead(operator, record.workspace) || ownsKey(operator, record)) return record;
  throw new ChangeFailed('absent', `there is no key ${publicId}`);
}

type Written = Omit<ReadBody<'POST /keys'>, 'workspace' | 'name'> & { readonly name?: string | undefined };

function changesOf({ spend_limit_usd: limit, ...written }: Written) {
  const spend_limit_usd = typeof limit === 'string' ? formatUsd(parseUsd(limit) ?? 0n) : limit;
  const { status: _status, ...changes } = fromWrittenKey({ ...written, spend_limit_usd });
  return changes;
}

const newKeyDocument = (deps: ManagementDependencies, publicId: string): Promise<Documents['ManagedKey']> =>
  readKey(deps, publicId)
    .then((key) => readKeyFigures(deps, key))
    .then(keyDocument, refuseUnansweredKey('keys', publicId));

/** Describes a key. The public id is the only part of the key's text that is shown. */
const keyDocument = (key: KeyFigures): Documents['ManagedKey'] => ({
  public_id: key.publicId,
  workspace: key.workspace,
  ...writtenKey(key),
  state: stateOf(key),
  owner: key.owner,
  spent_usd: formatUsd(key.spent),
  held_usd: formatUsd(key.held),
  last_alert: lastAlertDocument(key.lastAlert),
  replaced_by: key.replacedBy,
});

/** `ending` means that the key has a successor from a rotation, and has not ended yet. */
function stateOf({ status, replacedBy, isExpired }: KeyFigures): Documents['ManagedKey']['state'] {
  if (status === 'revoked') return 'revoked';
  if (isExpired) return 'expired';
  return replacedBy === null ? 'active' : 'ending';
}
