// Decides which keys an operator may make and change. An editor may change all keys of its workspaces, and a member may
// change its own keys within `member_keys`.
import {
  ChangeFailed,
  checkWithin,
  claimMemberSlot,
  type KeyChanges,
  memberBounds,
  noSuchWorkspace,
  readWorkspace,
  withinBounds,
} from '../../../shared/configuration/administration/index.ts';
import type { KeyRecord } from '../../../shared/configuration/keys/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { requireRole } from '../request/allowed.ts';
import type { Operator } from '../request/identify-operator.ts';

export const ownsKey = ({ owner, rights }: Operator, key: Pick<KeyRecord, 'owner' | 'workspace'>): boolean =>
  owner !== undefined && key.owner === owner && rights.holds('member', key.workspace);

interface AllowedNewKey extends KeyChanges {
  readonly claim?: ((publicId: string) => Promise<void>) | undefined;
}

/** Returns the settings that the new key may have. Throws not_found or forbidden. */
export async function allowNewKey(
  deps: ManagementDependencies,
  operator: Operator,
  workspace: string,
  wanted: KeyChanges,
): Promise<AllowedNewKey> {
  requireRole(operator, 'member', workspace, noSuchWorkspace(workspace));
  if (operator.rights.holds('editor', workspace)) return wanted;
  const { owner } = operator;
  if (owner === undefined || !operator.rights.isMember(workspace)) {
    throw fail('forbidden', {
      message: `This needs the role editor, or a person with the role member, in ${workspace}.`,
    });
  }
  const bounds = memberBounds(await readWorkspace(deps, workspace), deps.clock.nowMs());
  const claim = (publicId: string) => claimMemberSlot(deps, { workspace, publicId, owner }, bounds.max);
  return { ...withinBounds(wanted, bounds), owner, claim };
}

/** Throws not_found or forbidden. `claim` is set for a key that replaces this key. */
export async function allowChange(
  deps: ManagementDependencies,
  operator: Operator,
  key: Pick<KeyRecord, 'workspace' | 'owner' | 'publicId' | 'guardrails'>,
  changes: KeyChanges & { readonly status?: KeyRecord['status'] },
): Promise<Pick<AllowedNewKey, 'claim'>> {
  const { workspace } = key;
  if (operator.rights.holds('editor', workspace)) return {};
  if (!ownsKey(operator, key)) {
    requireRole(operator, 'editor', workspace, `there is no key ${key.publicId}`);
  }
  // A member may always revoke its own key. Any other change is limited like a new key.
  const { status, ...settings } = changes;
  if (status === 'active') throw new ChangeFailed('forbidden', 'a member makes a new key in place of a revoked one');
  const { guardrails } = settings;
  if (guardrails !== undefined && key.guardrails?.some((id) => guardrails?.includes(id) !== true) === true) {
    throw new ChangeFailed('forbidden', 'a member adds guardrails to a key and removes none');
  }
  const isRevocation = status === 'revoked' && Object.values(settings).every((value) => value === undefined);
  if (isRevocation) return {};
  const bounds = memberBounds(await readWorkspace(deps, workspace), deps.clock.nowMs());
  checkWithin(settings, bounds);
  const owner = operator.owner ?? '';
  return { claim: (publicId) => claimMemberSlot(deps, { workspace, publicId, owner }, bounds.max) };
}
