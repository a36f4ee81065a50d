// Defines the record of a stored function without the contents of its revisions. The record has everything that decides
// whether a call may run. The record is one item, so every change of state is one conditional write.
//
//   FUNCTION#<workspace>#<function>            status, active revision, and of each revision all but its content; `version`
//                                              counts the writes
//   CONTENT#<workspace>#<function>#<sha256>    the content of a revision, compressed, under the hash of its text: never changed
//   FUNCTIONS#<workspace>                      the list of a workspace: function-list.ts
//
// The workspace is part of every key, so a function of another workspace is as unknown as one that does not exist.
import type { Item } from '../../storage/store/index.ts';
import type { FunctionDocument, FunctionStatus, RevisionState } from './function-document.ts';

export interface RevisionRecord {
  readonly id: string;
  readonly state: RevisionState;
  /** Expiry. Null: never, or unknown until it is qualified or activated. */
  readonly expiresAtMs: number | null;
  readonly validForMs: number | null;
  /** True if the revision has test cases, so that a command activates it only when it is qualified. */
  readonly hasCases: boolean;
  readonly qualifiedAtMs: number | null;
  readonly activatedAtMs: number | null;
  /** Hash of the content as text, under which it is stored. */
  readonly textSha256: string;
  /** Hash of the content in canonical form, so that two texts with the same meaning have the same hash. */
  readonly contentSha256: string;
}

export interface FunctionRecord {
  readonly workspace: string;
  readonly id: string;
  readonly kind: FunctionDocument['kind'];
  readonly status: FunctionStatus;
  /** The revision that an unpinned call runs; null: none. */
  readonly active: string | null;
  /** Revisions in the order in which they were saved. */
  readonly revisions: ReadonlyMap<string, RevisionRecord>;
}

/** Maximum number of revisions. Each takes about 300 bytes, in an item of at most 400 KB. */
export const revisionsMax = 200;

const functionPrefix = 'FUNCTION#';

// Ids contain no '#', so that keys cannot collide.
export const functionKey = (workspace: string, id: string): string => `${functionPrefix}${workspace}#${id}`;
export const contentKey = ({ workspace, id }: Pick<FunctionRecord, 'workspace' | 'id'>, textSha256: string): string =>
  `CONTENT#${workspace}#${id}#${textSha256}`;

export const isFunctionItem = ({ pk }: Item): boolean => String(pk).startsWith(functionPrefix);

export const toItem = (record: FunctionRecord, version: number): Item => ({
  pk: functionKey(record.workspace, record.id),
  workspace: record.workspace,
  id: record.id,
  kind: record.kind,
  status: record.status,
  active: record.active,
  // They are stored as a list, because as fields of a map ids such as __proto__ would be lost.
  revisions: [...record.revisions.values()].map((revision) => ({
    id: revision.id,
    state: revision.state,
    expires_at_ms: revision.expiresAtMs,
    valid_for_ms: revision.validForMs,
    has_cases: revision.hasCases,
    qualified_at_ms: revision.qualifiedAtMs,
    activated_at_ms: revision.activatedAtMs,
    text_sha256: revision.textSha256,
    content_sha256: revision.contentSha256,
  })),
  version,
});

export function fromItem(item: Item): FunctionRecord {
  const revisions = (item.revisions as Item[]).map(revisionFrom);
  return {
    workspace: String(item.workspace),
    id: String(item.id),
    kind: item.kind as FunctionRecord['kind'],
    status: item.status as FunctionRecord['status'],
    active: item.active as string | null,
    revisions: new Map(revisions.map((revision) => [revision.id, revision])),
  };
}

const revisionFrom = (item: Item): RevisionRecord => ({
  id: String(item.id),
  state: item.state as RevisionRecord['state'],
  expiresAtMs: item.expires_at_ms as number | null,
  validForMs: item.valid_for_ms as number | null,
  hasCases: item.has_cases === true,
  qualifiedAtMs: item.qualified_at_ms as number | null,
  activatedAtMs: item.activated_at_ms as number | null,
  textSha256: String(item.text_sha256),
  contentSha256: String(item.content_sha256),
});

/** Returns the version; zero if there is no item yet. */
export const versionOf = (item: Item | undefined): number => Number(item?.version ?? 0);
