// What applying a file would do, found by doing it with writes that go nowhere: the decisions are those of the real run,
// and beside them stands, member by member, what would change.
import { ApplyInterrupted, type ApplyOptions, applyGatewayFile, type ResourceChange } from './apply.ts';
import { planKeys } from './apply-keys.ts';
import { changedMembers, type MemberChange } from './changed-members.ts';
import { rehearsalStore } from './rehearsal-store.ts';
import { type DocumentPair, pairDocuments, type RehearsalStores } from './stored-documents.ts';

export interface RehearseOptions extends Omit<ApplyOptions, 'stores'> {
  readonly store: Parameters<typeof rehearsalStore>[0];
  /** The stores of a stage on a store of its items. */
  readonly storesOn: (store: ReturnType<typeof rehearsalStore>) => RehearsalStores;
}

export interface RehearsedChange extends ResourceChange {
  /** What differs. Empty unless the change is `changed`. */
  readonly members: readonly MemberChange[];
}

export interface Rehearsal {
  readonly changes: readonly RehearsedChange[];
  /** As in the report of the real run. */
  readonly skipped: readonly string[];
}

/** Writes nothing. Throws where applying the file would be refused. */
export async function rehearseGatewayFile({ store, storesOn, ...options }: RehearseOptions): Promise<Rehearsal> {
  const stores = storesOn(rehearsalStore(store));
  const report = await applyGatewayFile({ ...options, stores }).catch((error: unknown) => {
    // Nothing was applied, in part or whole.
    throw error instanceof ApplyInterrupted ? error.cause : error;
  });
  const keys = await planKeys(options.file, stores.keys, options.randomness);
  const pairs = await pairDocuments(options.file, keys, stores);
  return {
    // Several keys of a workspace may share a name: pairs stand in the order of the report.
    changes: report.changes.map(({ resource, change }) => {
      const index = pairs.findIndex((pair) => pair.resource === resource);
      const [pair] = index === -1 ? [] : pairs.splice(index, 1);
      return { resource, change, members: change === 'changed' ? membersOf(pair) : [] };
    }),
    skipped: report.skipped,
  };
}

function membersOf(pair: DocumentPair | undefined): MemberChange[] {
  const members = changedMembers(pair?.former, pair?.next);
  if (members.length > 0 || pair === undefined) return members;
  // The rest of a connection is its key, which nobody sees; the rest of a draft is the order of its members.
  return [{ path: pair.resource.startsWith('byok ') ? 'key' : 'order of members' }];
}
