// Formats stored functions as tables and documents.
import type { Documents } from '../../../shared/configuration/management/index.ts';
import type { CommandOutcome } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from './table.ts';

type StoredFunction = Documents['ManagedFunction'];
type Revision = StoredFunction['revisions'][number];

export const functionOutcome = (one: StoredFunction): CommandOutcome & { readonly json: object } => ({
  json: functionJson(one),
  lines: (style) => fieldTable(functionFields, [one], style),
});

export const functionFields: readonly Field<StoredFunction>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace },
  { member: 'function', title: 'function', isFlexible: true, value: ({ id }) => id },
  { member: 'kind', title: 'kind', value: ({ kind }) => kind },
  { member: 'status', title: 'status', value: ({ status }) => status },
  { member: 'active', title: 'active', isFlexible: true, value: ({ active }) => active },
  { title: 'revisions', align: 'right', value: ({ revisions }) => revisions.length },
];

export const revisionFields = ({ active }: StoredFunction): readonly Field<Revision>[] => [
  { member: 'id', title: 'revision', isFlexible: true, value: ({ id }) => id },
  { member: 'state', title: 'state', value: ({ state }) => state },
  { member: 'has_cases', title: 'cases', value: ({ has_cases }) => has_cases },
  { member: 'qualified_at', title: 'qualified', value: ({ qualified_at }) => qualified_at },
  { member: 'activated_at', title: 'activated', value: ({ activated_at }) => activated_at },
  { member: 'expires_at', title: 'expires', value: ({ expires_at }) => expires_at },
  { title: '', value: ({ id }) => (id === active ? 'active' : '') },
];

export const functionJson = (one: StoredFunction) => ({
  ...fieldJson(functionFields, one),
  revisions: one.revisions.map((revision) => fieldJson(revisionFields(one), revision)),
});
