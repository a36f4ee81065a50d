// Checks the rights of an operator for one request. Anything outside the workspaces that an operator may see is
// reported as unknown. An action on something visible that the operator may not do is refused with the needed role.
import type { Role } from '../../../shared/configuration/access/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import type { Operator } from './identify-operator.ts';

/** Throws unless the operator has the role. `absent` is the message for a workspace that the operator may not see. */
export function requireRole({ rights }: Operator, role: Role, workspace: string, absent: string): void {
  if (!rights.holds('member', workspace)) throw fail('not_found', { message: absent });
  if (rights.holds(role, workspace)) return;
  throw fail('forbidden', { message: `This needs the role ${role} in the workspace ${workspace}.` });
}

export function requireInAll({ rights }: Operator, role: Role): void {
  if (!rights.holdsInAll(role)) throw fail('forbidden', { message: `This needs the role ${role} in all workspaces.` });
}

export function requireSomewhere({ rights }: Operator, role: Role): void {
  if (!rights.holdsSomewhere(role)) throw fail('forbidden', { message: `This needs the role ${role}.` });
}

/** Returns true if a list may show an item of the workspace. */
export const mayRead = ({ rights }: Operator, workspace: string): boolean => rights.holds('viewer', workspace);
