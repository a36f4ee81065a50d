// What the parts of a plan share: where they read, what they give, and how a refusal of a store becomes a problem of the file.
import type { Randomness } from '../../foundation/ids/index.ts';
import { isRefusal, type OperatorStores } from '../administration/index.ts';
import type { ConnectionStore } from '../byok/index.ts';
import type { CatalogueDocument } from '../catalogue/index.ts';
import type { ModelList } from '../model-list/index.ts';
import type { UnusableRevisions } from '../stored-functions/index.ts';
import type { MemberChange } from './changed-members.ts';
import type { GatewayFile } from './gateway-file.ts';
import type { Issue, Path } from './problems.ts';

/** A composition has them all. */
export interface ConfigurationStores extends Pick<OperatorStores, 'catalogues' | 'workspaceStore' | 'keys' | 'access'> {
  readonly credit: Pick<OperatorStores['credit'], 'create'>;
  readonly functionStore: Pick<OperatorStores['functionStore'], 'plan' | 'apply' | 'readContent'>;
  readonly connectionStore: ConnectionStore;
  /** With which the public ids of new keys begin. */
  readonly cell?: string | undefined;
}

export interface ApplyOptions {
  readonly file: GatewayFile;
  readonly stores: ConfigurationStores;
  /** The value of a variable that the file names: keys of BYOK connections. Left out: no variable is read here. */
  readonly readVariable?: ((name: string) => string | undefined) | undefined;
  readonly randomness: Randomness;
  readonly nowMs: number;
  /** The shipped one: fills in what the file leaves out of models. */
  readonly modelList?: ModelList | undefined;
  /** Of AWS, where the gateway of this store runs. Left out: as the variable AWS_REGION says. */
  readonly region?: string | undefined;
  /** What the writer of the file had read. What has changed since then is not taken back. Left out: the file counts as it is. */
  readonly readBefore?: ReadBefore | undefined;
  /** For a start, where no person can be asked: revoked keys stay revoked whatever the file says. Default false. */
  readonly keepsRevoked?: boolean;
}

export interface ReadBefore {
  readonly file: GatewayFile;
  readonly catalogue: CatalogueDocument | undefined;
}

export type Change = 'created' | 'changed' | 'unchanged' | 'removed';

export interface PlannedChange {
  /** `catalogue`, `workspace team-a`, `key ci of team-a`. */
  readonly resource: string;
  readonly change: Change;
  /** What differs. Empty unless the change is `changed`. */
  readonly members: readonly MemberChange[];
}

/** A key that was made here. Its text is stored nowhere: show it, once. */
export interface CreatedKey {
  readonly workspace: string;
  readonly name: string;
  readonly key: string;
}

/** Changes that one write makes, and that write. */
export interface Step {
  readonly planned: readonly PlannedChange[];
  /** What was really done: another writer of the same file may have been faster. */
  write(): Promise<readonly Change[]>;
  readonly createdKey?: CreatedKey | undefined;
}

export interface Planning extends ApplyOptions {
  readonly modelList: ModelList;
  readonly issues: Issue[];
  readonly notes: string[];
}

export const changeOf = (members: readonly MemberChange[]): Change => (members.length === 0 ? 'unchanged' : 'changed');

export const describe = (resource: string, change: Change, members: readonly MemberChange[]): PlannedChange => ({
  resource,
  change,
  members: change === 'changed' ? members : [],
});

/** What a store refuses with a text for the operator is a problem of the file; any other failure is thrown. */
export async function attempt<Value>(
  issues: Issue[],
  path: Path,
  plan: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await plan();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { faults } = error as Partial<UnusableRevisions>;
    const found = faults ?? [{ path: [], message: error.message }];
    issues.push(...found.map((fault) => ({ path: [...path, ...fault.path], message: fault.message })));
    return undefined;
  }
}
