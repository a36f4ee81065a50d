// Makes, lists and revokes operator keys, which open the management interface and the console.

import { collect } from '../../foundation/parallel/index.ts';
import { newApiKey, type OperatorRecord } from '../keys/index.ts';
import { ChangeFailed, refuseUnansweredKey } from './change-failed.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'operators' | 'clock' | 'randomness' | 'cell'>;

/** Returns every operator by name, revoked operators included. */
export async function readOperators({ operators }: Pick<Dependencies, 'operators'>): Promise<OperatorRecord[]> {
  const records = await collect(operators.list());
  return records.sort((a, b) => (a.name === b.name ? a.createdAtMs - b.createdAtMs : a.name < b.name ? -1 : 1));
}

interface NewOperator extends Omit<OperatorRecord, 'secretSha256'> {
  /** Text of the key, which is stored nowhere, so show it once. */
  readonly text: string;
}

/**
 * Makes an operator key. Throws ChangeFailed if another active operator has the name, because a log line names the
 * operator who made a change.
 */
export async function createOperator(
  deps: Dependencies,
  name: string,
  { role, workspaces }: Pick<OperatorRecord, 'role' | 'workspaces'> = { role: 'owner', workspaces: 'all' },
): Promise<NewOperator> {
  const { text, publicId, secretSha256 } = newApiKey(deps.randomness, deps.cell);
  const createdAtMs = deps.clock.nowMs();
  const holder = await deps.operators.claimName({ name, publicId }, createdAtMs);
  if (holder !== publicId) {
    const advice = 'give another name, or revoke that one first';
    throw new ChangeFailed('taken', `${name} is the active operator ${holder}: ${advice}`);
  }
  const record = { publicId, name, status: 'active', createdAtMs, role, workspaces } as const;
  await deps.operators.write({ ...record, secretSha256 }).catch(refuseUnansweredKey('operators', publicId));
  return { ...record, text };
}

/** Returns the operator. Throws ChangeFailed if there is none. */
export async function readOperator(
  { operators }: Pick<Dependencies, 'operators'>,
  publicId: string,
): Promise<OperatorRecord> {
  const record = await operators.read(publicId);
  if (record === undefined) throw new ChangeFailed('absent', `there is no operator ${publicId}`);
  return record;
}

/** Revokes an operator, who is refused from the next request on. */
export const revokeOperator = ({ operators }: Pick<Dependencies, 'operators'>, record: OperatorRecord): Promise<void> =>
  operators.write({ ...record, status: 'revoked' });
