// Stored functions as tables and documents.
import type { FunctionRecord, RevisionRecord } from '../../../shared/configuration/stored-functions/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import type { Outcome } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from './table.ts';

export const functionOutcome = (record: FunctionRecord, nowMs: number): Outcome & { readonly json: object } => ({
  json: functionJson(record, nowMs),
  lines: (style) => fieldTable(functionFields, [record], style),
});

export const functionFields: readonly Field<FunctionRecord>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace },
  { member: 'function', title: 'function', isFlexible: true, value: ({ id }) => id },
  { member: 'kind', title: 'kind', value: ({ kind }) => kind },
  { member: 'status', title: 'status', value: ({ status }) => status },
  { member: 'active', title: 'active', isFlexible: true, value: ({ active }) => active },
  { title: 'revisions', align: 'right', value: ({ revisions }) => revisions.size },
];

export const revisionFields = ({ active }: FunctionRecord, nowMs: number): readonly Field<RevisionRecord>[] => [
  { member: 'id', title: 'revision', isFlexible: true, value: ({ id }) => id },
  // Expiry is not stored: every reader compares the time.
  { member: 'state', title: 'state', value: (r) => ((r.expiresAtMs ?? Infinity) <= nowMs ? 'expired' : r.state) },
  { member: 'has_cases', title: 'cases', value: ({ hasCases }) => hasCases },
  { member: 'qualified_at', title: 'qualified', value: ({ qualifiedAtMs }) => instantOf(qualifiedAtMs) },
  { member: 'activated_at', title: 'activated', value: ({ activatedAtMs }) => instantOf(activatedAtMs) },
  { member: 'expires_at', title: 'expires', value: ({ expiresAtMs }) => instantOf(expiresAtMs) },
  { title: '', value: ({ id }) => (id === active ? 'active' : '') },
];

export const functionJson = (record: FunctionRecord, nowMs: number) => ({
  ...fieldJson(functionFields, record),
  revisions: [...record.revisions.values()].map((revision) => fieldJson(revisionFields(record, nowMs), revision)),
});
