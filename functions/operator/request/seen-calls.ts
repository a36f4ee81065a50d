// Reads the calls that an operator may see: all calls of the workspaces that it may read, and in other workspaces the
// calls of its own keys.
import type { CallRecord, CallRecords } from '../../../shared/accounting/call-records/index.ts';
import { collect } from '../../../shared/foundation/parallel/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { mayRead } from './allowed.ts';
import type { Operator } from './identify-operator.ts';

interface SeenCalls {
  readonly workspaces: readonly string[];
  /** Returns only calls that the operator may see. */
  readonly records: Pick<CallRecords, 'read' | 'find'>;
}

/** Returns a reader for the operator. `workspace` limits the reader to one workspace. */
export async function seenCalls(
  { workspaceStore, keys, records }: Pick<ManagementDependencies, 'workspaceStore' | 'keys' | 'records'>,
  operator: Operator,
  workspace?: string,
): Promise<SeenCalls> {
  const workspaceItems = workspace === undefined ? await collect(workspaceStore.list()) : [{ id: workspace }];
  const workspaces = workspaceItems.map(({ id }) => id).filter((id) => operator.rights.holds('member', id));
  const isRead = new Set(workspaces.filter((id) => mayRead(operator, id)));
  if (isRead.size === workspaces.length) return { workspaces, records };
  const ownKeys = new Set<string>();
  for await (const key of keys.list()) if (key.owner === operator.owner) ownKeys.add(key.publicId);
  return {
    workspaces,
    records: filtered(records, (call) => isRead.has(call.workspace) || ownKeys.has(call.keyPublicId)),
  };
}

const ownerMembers = ['workspace', 'keyPublicId'] as const;
type OwnedCall = Pick<CallRecord, (typeof ownerMembers)[number]>;

const filtered = (
  records: Pick<CallRecords, 'read' | 'find'>,
  isSeen: (call: OwnedCall) => boolean,
): SeenCalls['records'] => ({
  async *read(workspace, day, { members, ...options } = {}) {
    // The owner of each call has to be read, whichever fields were requested.
    const readMembers = members && [...members, ...ownerMembers];
    for await (const call of records.read(workspace, day, { ...options, members: readMembers }))
      if (isSeen(call)) yield call;
  },
  async find(...inputs) {
    const found = await records.find(...inputs);
    return found !== undefined && isSeen(found) ? found : undefined;
  },
});
