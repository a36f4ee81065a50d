// The states of functions and revisions, as steps from one record to the next. Pure: WriteRefused says
// why a step cannot be taken.
//
//   draft ──── qualify ───▶ qualified draft ──── activate ───▶ activated ──── expires_at ───▶ expired
//     └── activate without cases, or by a gateway file or an operator who skips them ──▲
//
// Nothing leads back to a draft. Expiry is no write: readers compare the time.
import { WriteRefused } from '../../storage/store/index.ts';
import type { FunctionRecord, RevisionRecord } from './function-record.ts';

/** The time counts up to, not including, the end. */
export const isExpired = ({ expiresAtMs }: Pick<RevisionRecord, 'expiresAtMs'>, nowMs: number): boolean =>
  expiresAtMs !== null && nowMs >= expiresAtMs;

/** A draft becomes activated, qualified or not; one that is activated stays as it is. */
export function activateRevision(revision: RevisionRecord, nowMs: number): RevisionRecord {
  if (revision.state === 'activated') return revision;
  const { validForMs, expiresAtMs } = revision;
  const activated = { ...revision, state: 'activated', activatedAtMs: nowMs } as const;
  if (validForMs === null) return activated;
  // A qualification that is not over keeps its end; otherwise the time counts from now.
  const isValid = expiresAtMs !== null && !isExpired(revision, nowMs);
  return { ...activated, expiresAtMs: isValid ? expiresAtMs : nowMs + validForMs };
}

/** Throws where a draft has test cases that were not passed, or so long ago that it is no longer qualified. */
export function checkQualified(revision: RevisionRecord, nowMs: number): void {
  if (revision.state === 'activated' || !revision.hasCases) return;
  if (revision.qualifiedAtMs === null) {
    throw new WriteRefused(
      `revision ${revision.id} carries cases and is not qualified: qualify it before it is activated`,
    );
  }
  if (revision.validForMs !== null && isExpired(revision, nowMs)) {
    throw new WriteRefused(`the qualification of revision ${revision.id} has expired: qualify it again`);
  }
}

/**
 * Command: makes a qualified revision the active one, and enables the function again. The former one stays callable by
 * pin.
 */
export function activate(record: FunctionRecord, revisionId: string, nowMs: number): FunctionRecord {
  const draft = findRevision(record, revisionId);
  checkQualified(draft, nowMs);
  const revision = activateRevision(draft, nowMs);
  if (isExpired(revision, nowMs)) throw new WriteRefused(`revision ${revisionId} of function ${record.id} has expired`);
  return { ...withRevision(record, revision), active: revisionId, status: 'enabled' };
}

/**
 * Notes that all cases of a revision passed. `textSha256` is the content that was judged. A new `valid_for` begins, for
 * a revision that serves already too.
 */
export function qualify(record: FunctionRecord, revisionId: string, textSha256: string, nowMs: number): FunctionRecord {
  const revision = findRevision(record, revisionId);
  if (!revision.hasCases) throw new WriteRefused(`revision ${revisionId} of function ${record.id} carries no cases`);
  if (revision.textSha256 !== textSha256) {
    throw new WriteRefused(`revision ${revisionId} of function ${record.id} was changed while it was being qualified`);
  }
  const expiresAtMs = revision.validForMs === null ? revision.expiresAtMs : nowMs + revision.validForMs;
  return withRevision(record, { ...revision, qualifiedAtMs: nowMs, expiresAtMs });
}

export const withStatus = (record: FunctionRecord, status: FunctionRecord['status']): FunctionRecord => ({
  ...record,
  status,
});

function findRevision(record: FunctionRecord, revisionId: string): RevisionRecord {
  const revision = record.revisions.get(revisionId);
  if (revision === undefined) throw new WriteRefused(`function ${record.id} has no revision ${revisionId}`);
  return revision;
}

const withRevision = (record: FunctionRecord, revision: RevisionRecord): FunctionRecord => ({
  ...record,
  revisions: new Map(record.revisions).set(revision.id, revision),
});
