// Functions and their revisions as tables and as JSON.
import type { FunctionRecord, RevisionRecord } from '../../../shared/configuration/stored-functions/index.ts';
import type { Style } from '../terminal.ts';
import { table } from './table.ts';

export const functionTable = (records: readonly FunctionRecord[], style: Style): string[] =>
  table(
    [
      { title: 'workspace', isFlexible: true },
      { title: 'function', isFlexible: true },
      { title: 'kind' },
      { title: 'status' },
      { title: 'active', isFlexible: true },
      { title: 'revisions', align: 'right' },
    ],
    records.map(({ workspace, id, kind, status, active, revisions }) => [
      workspace,
      id,
      kind,
      status,
      active,
      revisions.size,
    ]),
    style,
  );

export const revisionTable = ({ revisions, active }: FunctionRecord, nowMs: number, style: Style): string[] =>
  table(
    [
      { title: 'revision', isFlexible: true },
      { title: 'state' },
      { title: 'cases' },
      { title: 'qualified' },
      { title: 'activated' },
      { title: 'expires' },
      { title: '' },
    ],
    [...revisions.values()].map((revision) => [
      revision.id,
      stateOf(revision, nowMs),
      revision.hasCases ? 'yes' : 'no',
      isoTime(revision.qualifiedAtMs),
      isoTime(revision.activatedAtMs),
      isoTime(revision.expiresAtMs),
      revision.id === active ? 'active' : '',
    ]),
    style,
  );

/** Expiry is no state of its own at rest: whoever reads compares the time. */
const stateOf = ({ state, expiresAtMs }: RevisionRecord, nowMs: number): string =>
  expiresAtMs !== null && nowMs >= expiresAtMs ? 'expired' : state;

export const functionJson = ({ workspace, id, kind, status, active, revisions }: FunctionRecord, nowMs: number) => ({
  workspace,
  function: id,
  kind,
  status,
  active,
  revisions: [...revisions.values()].map((revision) => ({
    id: revision.id,
    state: stateOf(revision, nowMs),
    has_cases: revision.hasCases,
    qualified_at: isoTime(revision.qualifiedAtMs),
    activated_at: isoTime(revision.activatedAtMs),
    expires_at: isoTime(revision.expiresAtMs),
  })),
});

const isoTime = (epochMs: number | null): string | null => (epochMs === null ? null : new Date(epochMs).toISOString());
