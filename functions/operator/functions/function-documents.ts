// Describes stored functions for the management interface.
import type { Documents } from '../../../shared/configuration/management/index.ts';
import type {
  FunctionRecord,
  FunctionWithContents,
  RevisionContent,
  RevisionRecord,
} from '../../../shared/configuration/stored-functions/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';

export const functionDocument = (record: FunctionRecord, nowMs: number): Documents['ManagedFunction'] => ({
  ...headOf(record),
  revisions: [...record.revisions.values()].map((revision) => revisionDocument(revision, nowMs)),
});

/** Describes a function with the content of each revision, with the field names of the gateway file. */
export const shownFunctionDocument = (
  { record, contents }: FunctionWithContents,
  nowMs: number,
  yamlText: (value: unknown) => string,
): Documents['ShownFunction'] => ({
  ...headOf(record),
  revisions: [...record.revisions.values()].map((revision) => ({
    ...revisionDocument(revision, nowMs),
    content: withoutKind(contents.get(revision.id)),
    text: yamlText({ kind: record.kind, ...contents.get(revision.id) }),
  })),
});

const headOf = ({ workspace, id, kind, status, active }: FunctionRecord) => ({ workspace, id, kind, status, active });

function withoutKind(content: RevisionContent | undefined): Record<string, unknown> {
  const { kind: _kind, ...members } = content ?? { kind: 'prompt' };
  return members;
}

const revisionDocument = (
  revision: RevisionRecord,
  nowMs: number,
): Documents['ManagedFunction']['revisions'][number] => ({
  id: revision.id,
  // Expiry is not stored, because every reader compares the time.
  state: revision.expiresAtMs !== null && revision.expiresAtMs <= nowMs ? 'expired' : revision.state,
  has_cases: revision.hasCases,
  qualified_at: instantOf(revision.qualifiedAtMs),
  activated_at: instantOf(revision.activatedAtMs),
  expires_at: instantOf(revision.expiresAtMs),
});
