// Changes the states of functions and revisions, in steps from one record to the next. Pure. WriteRefused has the
// reason why a step is impossible.
//
//   draft ──── qualify ───▶ qualified draft ──── activate ───▶ activated ──── expires_at ───▶ expired
//     └── activate without cases, or by a gateway file or an operator who skips them ──▲
//
// Nothing becomes a draft again. Expiry is not a write: readers compare the time.
import { WriteRefused } from '../../storage/store/index.ts';
import type { FunctionRecord, RevisionRecord } from './function-record.ts';

/** True at the expiry, and after it. */
export const isExpired = ({ expiresAtMs }: Pick<RevisionRecord, 'expiresAtMs'>, nowMs: number): boolean =>
  expiresAtMs !== null && nowMs >= expiresAtMs;

/** Activates a draft, qualified or not; an activated revision stays unchanged. */
export function activateRevision(revision: RevisionRecord, nowMs: number): RevisionRecord {
  if (revision.state === 'activated') return revision;
  const { validForMs, expiresAtMs } = revision;
  const activated = { ...revision, state: 'activated', activatedAtMs: nowMs } as const;
  if (validForMs === null) return activated;
  // A qualification that has not expired keeps its expiry; otherwise the time counts from now.
  const isValid = expiresAtMs !== null && !isExpired(revision, nowMs);
  return { ...activated, expiresAtMs: isValid ? expiresAtMs : nowMs + validForMs };
}

/** Throws if a draft has test cases that have not passed, or whose qualification has expired. */
export function requireQualified(revision: RevisionRecord, nowMs: number): void {
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

/** Makes a qualified revision the active one, and enables the function. The former revision stays callable by pin. */
export function activate(record: FunctionRecord, revisionId: string, nowMs: number): FunctionRecord {
  const draft = findRevision(record, revisionId);
  requireQualified(draft, nowMs);
  const revision = activateRevision(draft, nowMs);
  if (isExpired(revision, nowMs)) throw new WriteRefused(`revision ${revisionId} of function ${record.id} has expired`);
  return { ...withRevision(record, revision), active: revisionId, status: 'enabled' };
}

/**
 * Notes that all cases of a revision passed. `textSha256` is the content that was judged. A new `valid_for` begins,
 * even for a revision that is active already.
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
