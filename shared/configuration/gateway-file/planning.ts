// Defines the common types of a plan's parts, which are inputs, changes, and the conversion of a store's refusal to a
// problem of the file.
import type { Randomness } from '../../foundation/ids/index.ts';
import type { WriteRefused } from '../../storage/store/index.ts';
import { isRefusal, type OperatorStores } from '../administration/index.ts';
import type { ConnectionStore } from '../byok/index.ts';
import type { CatalogueDocument } from '../catalogue/index.ts';
import type { ModelList } from '../model-list/index.ts';
import type { UnusableRevisions } from '../stored-functions/index.ts';
import type { AppliedFile } from './applied-file.ts';
import type { MemberChange } from './changed-members.ts';
import type { GatewayFile } from './gateway-file.ts';
import type { Issue, LineOf, Path } from './problems.ts';

/** The stores that a plan reads and writes; a composition has all of them. */
export interface ConfigurationStores extends Pick<OperatorStores, 'catalogues' | 'workspaceStore' | 'keys' | 'access'> {
  readonly credit: Pick<OperatorStores['credit'], 'create'>;
  readonly functionStore: Pick<OperatorStores['functionStore'], 'plan' | 'apply' | 'readContent'>;
  readonly connectionStore: ConnectionStore;
  /** Characters with which the public ids of new keys begin. */
  readonly cell?: string | undefined;
}

export interface FileApplyOptions {
  readonly file: GatewayFile;
  /** Finds the lines of problems. */
  readonly lineOf?: LineOf | undefined;
  readonly stores: ConfigurationStores;
  /** Reads a variable that the file names, for keys of BYOK connections. If absent, no variable is read. */
  readonly readVariable?: ((name: string) => string | undefined) | undefined;
  readonly randomness: Randomness;
  readonly nowMs: number;
  /** The shipped list, which fills in absent fields of models. */
  readonly modelList?: ModelList | undefined;
  /** AWS region in which the gateway of this store runs; the variable AWS_REGION if absent. */
  readonly region?: string | undefined;
  /**
   * Catalogue that the writer of the file had read; later changes of the catalogue are preserved. If absent, the file
   * is applied as it is.
   */
  readonly readBefore?: ReadBefore | undefined;
  /** The file as it was last applied. Only its changes since then are applied. If absent, the whole file is applied. */
  readonly former?: AppliedFile | undefined;
  /**
   * True for a start, if no person can be asked. Revoked keys then stay revoked, whatever the file contains. Default
   * false.
   */
  readonly keepsRevoked?: boolean;
}

interface ReadBefore {
  readonly file: GatewayFile;
  readonly catalogue: CatalogueDocument | undefined;
}

type ChangeKind = 'created' | 'changed' | 'unchanged' | 'removed';

export interface PlannedChange {
  /** Resource such as `catalogue`, `workspace team-a`, `key ci of team-a`. */
  readonly resource: string;
  readonly change: ChangeKind;
  /** The differences; empty unless the change is `changed`. */
  readonly members: readonly MemberChange[];
}

/** A key that was made by this application of the file. Its text is stored nowhere, so show it once. */
export interface CreatedKey {
  readonly workspace: string;
  readonly name: string;
  readonly key: string;
}

/** The changes of one write, and the write itself. */
export interface ApplyStep {
  readonly planned: readonly PlannedChange[];
  /**
   * Makes the changes and returns the changes that were made, because another writer of the same file may have been
   * faster.
   */
  write(): Promise<readonly ChangeKind[]>;
  readonly createdKey?: CreatedKey | undefined;
}

export interface PlanningContext extends FileApplyOptions {
  readonly modelList: ModelList;
  /** Ids of the models that the file makes. */
  readonly modelIds: ReadonlySet<string>;
  readonly issues: Issue[];
  readonly notes: string[];
  readonly revokedKeys: string[];
  /**
   * Returns the path in the file as it was written, for a path in `file`, from which unchanged items may be missing.
   */
  readonly placeOf: (path: Path) => Path;
}

export const changeOf = (members: readonly MemberChange[]): ChangeKind =>
  members.length === 0 ? 'unchanged' : 'changed';

export const describe = (resource: string, change: ChangeKind, members: readonly MemberChange[]): PlannedChange => ({
  resource,
  change,
  members: change === 'changed' ? members : [],
});

/** Converts a store's refusal with a text for the operator to a problem of the file; any other failure is thrown. */
export async function attempt<Value>(
  issues: Issue[],
  path: Path,
  plan: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await plan();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { faults, path: below = [] } = error as Partial<
      Pick<UnusableRevisions, 'faults'> & Pick<WriteRefused, 'path'>
    >;
    const found = faults ?? [{ path: below, message: error.message }];
    issues.push(...found.map((fault) => ({ path: [...path, ...fault.path], message: fault.message })));
    return undefined;
  }
}
