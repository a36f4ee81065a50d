// Plans the change of a stored function by the gateway file. Pure. Parts that the file omits stay: status, active
// revision, and revisions that it does not name. An activated revision never changes and never becomes a draft again.

import { readDuration } from '../../foundation/time/index.ts';
import { WriteRefused } from '../../storage/store/index.ts';
import type { FunctionDocument } from './function-document.ts';
import { type FunctionRecord, type RevisionRecord, revisionsMax } from './function-record.ts';
import { contentOf, type DeclaredRevision, type RevisionText, toText } from './revision-content.ts';
import { activateRevision, checkQualified } from './transitions.ts';

export interface FunctionApplyOptions {
  /** A draft with test cases is activated only after they were passed. A gateway file activates it without. */
  readonly needsQualified?: boolean;
}

export interface ApplyPlan {
  readonly record: FunctionRecord;
  /** Contents that the former record does not name. */
  readonly newTexts: readonly RevisionText[];
}

/** Throws WriteRefused. */
export function planApply(
  former: FunctionRecord | undefined,
  workspace: string,
  declared: FunctionDocument,
  nowMs: number,
  options: FunctionApplyOptions = {},
): ApplyPlan {
  const name = `function ${declared.id} of ${workspace}`;
  if (former !== undefined && former.revisions.size > 0 && former.kind !== declared.kind) {
    throw new WriteRefused(
      `${name} is a ${former.kind} and cannot become a ${declared.kind}: give the new one another id`,
      { path: ['kind'] },
    );
  }
  const revisions = new Map(former?.revisions);
  const texts = new Map<string, RevisionText>();
  for (const [index, revision] of declared.revisions.entries()) {
    const text = toText(contentOf(declared.kind, revision));
    const planned = within(name, ['revisions', index], () =>
      planRevision(revisions.get(revision.id), revision, text, nowMs, options),
    );
    revisions.set(revision.id, planned);
    if (planned.textSha256 === text.textSha256) texts.set(text.textSha256, text);
  }
  if (revisions.size > revisionsMax) throw new WriteRefused(`${name} would have more than ${revisionsMax} revisions`);
  const { id, kind, status = former?.status ?? 'enabled', active = former?.active ?? null } = declared;
  if (active !== null && revisions.get(active)?.state !== 'activated') throw notActivated(name, active, revisions);
  for (const { textSha256 } of former?.revisions.values() ?? []) texts.delete(textSha256);
  return { record: { workspace, id, kind, status, active, revisions }, newTexts: [...texts.values()] };
}

function notActivated(name: string, active: string, revisions: ReadonlyMap<string, RevisionRecord>): WriteRefused {
  const path = ['active'];
  if (revisions.has(active)) {
    return new WriteRefused(`${name}: the active revision ${active} is not activated`, { path });
  }
  const known = revisions.size === 0 ? 'none' : [...revisions.keys()].join(', ');
  return new WriteRefused(
    `${name}: there is no revision ${active} to be active, in the file or stored; there are ${known}`,
    { path },
  );
}

function planRevision(
  former: RevisionRecord | undefined,
  declared: DeclaredRevision,
  text: RevisionText,
  nowMs: number,
  { needsQualified = false }: FunctionApplyOptions,
): RevisionRecord {
  if (former?.state === 'activated') {
    if (former.contentSha256 === text.contentSha256) return former;
    throw new WriteRefused(`revision ${declared.id} is activated and cannot be changed any more: make a new revision`);
  }
  // The qualification of a draft belongs to exactly this text.
  const draft = former?.textSha256 === text.textSha256 ? former : newDraft(declared, text);
  if (declared.state !== 'activated') return draft;
  if (needsQualified) checkQualified(draft, nowMs);
  return activateRevision(draft, nowMs);
}

const newDraft = (declared: DeclaredRevision, { textSha256, contentSha256 }: RevisionText): RevisionRecord => ({
  id: declared.id,
  state: 'draft',
  expiresAtMs: declared.expires_at === null ? null : Date.parse(declared.expires_at),
  validForMs: declared.valid_for === null ? null : readValidity(declared.valid_for),
  hasCases: declared.cases.length > 0,
  qualifiedAtMs: null,
  activatedAtMs: null,
  textSha256,
  contentSha256,
});

function readValidity(written: string): number {
  const validForMs = readDuration(written, ['m', 'h', 'd', 'w']);
  if (validForMs === undefined) throw new WriteRefused(`valid_for ${written} is no length of time`);
  return validForMs;
}

function within<Value>(name: string, path: WriteRefused['path'], plan: () => Value): Value {
  try {
    return plan();
  } catch (cause) {
    throw cause instanceof WriteRefused ? new WriteRefused(`${name}: ${cause.message}`, { cause, path }) : cause;
  }
}
