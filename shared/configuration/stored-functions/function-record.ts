// A function at rest, less the contents of its revisions: all that decides whether a call may run. One item, so every
// change of state is one conditional write.
import type { FunctionDocument, RevisionState } from './document.ts';

export interface RevisionRecord {
  readonly id: string;
  readonly state: RevisionState;
  /** From here on it is expired. Null: never, or not known before it is qualified or activated. */
  readonly expiresAtMs: number | null;
  readonly validForMs: number | null;
  /** Carries test cases, so that it is activated only once it is qualified. */
  readonly hasCases: boolean;
  readonly qualifiedAtMs: number | null;
  readonly activatedAtMs: number | null;
  /** Of the content as text, which is the name it is stored under. */
  readonly textSha256: string;
  /** Of the content in canonical order: two texts that mean the same have the same. */
  readonly contentSha256: string;
}

export interface FunctionRecord {
  readonly workspace: string;
  readonly id: string;
  readonly kind: FunctionDocument['kind'];
  readonly status: FunctionDocument['status'];
  /** The revision that an unpinned call runs; null: none. */
  readonly active: string | null;
  /** In the order in which they were saved. */
  readonly revisions: ReadonlyMap<string, RevisionRecord>;
}
