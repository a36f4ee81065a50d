// Serves the routes below /v1/manage/operators. Operator keys open the console and the management interface. Only the
// answer that makes an operator key contains its text.
import {
  createOperator,
  readOperator,
  readOperators,
  readWorkspace,
  revokeOperator,
} from '../../../shared/configuration/administration/index.ts';
import type { OperatorRecord } from '../../../shared/configuration/keys/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import type { RouteWork } from '../request/manage.ts';
import { pageOf } from '../request/pages.ts';

export const listOperators: RouteWork<'GET /operators'> = async (deps, { query }) => {
  const { items, next_cursor } = pageOf(
    await readOperators(deps),
    query,
    ({ name, createdAtMs, publicId }) => [name, instantOf(createdAtMs), publicId],
    ({ name, publicId }) => [name, publicId],
  );
  return { data: items.map(operatorDocument), next_cursor };
};

export const makeOperator: RouteWork<'POST /operators'> = async (deps, { body, tellChange }) => {
  const { name, role = 'owner', workspaces = 'all' } = body;
  for (const id of workspaces === 'all' ? [] : workspaces) await readWorkspace(deps, id);
  const { text, ...record } = await createOperator(deps, name, { role, workspaces });
  tellChange('operator created', `${name} (${record.publicId}), ${role} of ${[workspaces].flat().join(', ')}`);
  return { data: { ...operatorDocument(record), key: text } };
};

export const endOperator: RouteWork<'POST /operators/{public_id}/revoke'> = async (deps, { names, tellChange }) => {
  const record = await readOperator(deps, names.public_id);
  if (record.status === 'active') {
    await revokeOperator(deps, record);
    tellChange('operator revoked', `${record.name} (${record.publicId})`);
  }
  return { data: operatorDocument({ ...record, status: 'revoked' }) };
};

/** Describes an operator key. The public id is the only part of the key's text that is shown. */
const operatorDocument = (record: Omit<OperatorRecord, 'secretSha256'>): Documents['ManagedOperator'] => ({
  public_id: record.publicId,
  name: record.name,
  status: record.status,
  role: record.role,
  workspaces: record.workspaces,
  created_at: instantOf(record.createdAtMs),
});
