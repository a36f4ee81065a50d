// Compares the two sides of a change, by the file's names. Neither side contains a secret: keys and credentials are
// compared in their stores.
import { formatUsd } from '../../foundation/money/index.ts';
import type { Connection, ConnectionChange } from '../byok/index.ts';
import { type KeyRecord, type WantedKey, writtenKey } from '../keys/index.ts';
import type { FunctionDocument, FunctionStore, PlannedFunction } from '../stored-functions/index.ts';
import { withoutUndefined } from '../value-forms/index.ts';
import { changedMembers, type MemberChange } from './changed-members.ts';
import type { PlannedChange } from './planning.ts';
import { isMapping } from './yaml-source.ts';

export function connectionMembers({ former, next, hasNewKey }: ConnectionChange): MemberChange[] {
  const key = hasNewKey ? [{ path: 'key' }] : [];
  return [...changedMembers(former && writtenConnection(former), next && writtenConnection(next)), ...key];
}

const writtenConnection = ({ policy, budgetPicoUsd, keySource }: Connection) => ({
  key: keySource,
  policy,
  budget_usd: formatUsd(budgetPicoUsd),
});

export function keyMembers(former: KeyRecord | undefined, wanted: WantedKey): MemberChange[] {
  if (former === undefined) return [];
  return changedMembers(writtenKey(former), writtenKey({ ...former, ...withoutUndefined(wanted) }));
}

/** Returns changes of the revisions that the file names. Other revisions stay unchanged. */
export async function functionMembers(
  functions: Pick<FunctionStore, 'readContent'>,
  { revisions: declared }: FunctionDocument,
  { change, former, next }: PlannedFunction,
): Promise<MemberChange[]> {
  if (change !== 'changed' || former === undefined) return [];
  const storedRevisions: unknown[] = [];
  for (const { id } of declared) {
    const revision = former.revisions.get(id);
    if (revision === undefined) continue;
    const { kind: _kind, ...content } = (await functions.readContent(former, revision)).content;
    storedRevisions.push({ id, state: revision.state, ...content });
  }
  const nextRevisions = declared.map((revision) => ({ ...revision, state: next.revisions.get(revision.id)?.state }));
  const members = changedMembers(
    { status: former.status, active: former.active, revisions: storedRevisions },
    { status: next.status, active: next.active, revisions: nextRevisions },
  );
  // A draft that differs in nothing else differs in the order of its fields, which counts.
  return members.length > 0 ? members : [{ path: 'order of members' }];
}

/** Writes a change such as `rpm: 60 → 120`, in one line of bounded length. */
export function memberText({ path, ...values }: MemberChange): string {
  if (!('from' in values) && !('to' in values)) return `${path}: another one`;
  return `${path}: ${valueText(values.from)} → ${valueText(values.to)}`;
}

const valueMaxCharacters = 80;

function valueText(value: unknown): string {
  const text = value === undefined ? '(none)' : JSON.stringify(value).replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  return text.length <= valueMaxCharacters ? text : `${text.slice(0, valueMaxCharacters)}…`;
}

// Finds the changes of a plan that remove access or restore revoked access. A removal may affect someone at work, and a
// revoked key may be in wrong hands. A person must confirm both if a person can be asked; a start reports removals.

const switches = new Set(['status', 'function_execution', 'byok', 'presets']);
const offValues = new Set<unknown>(['revoked', 'disabled', false]);

/**
 * Returns lines such as `models[acme/large-1] of catalogue`, `key ci of team-a is revoked`. Empty if the file only
 * adds and changes.
 */
export const destructiveChanges = (changes: readonly PlannedChange[]): string[] =>
  changes.flatMap(({ resource, change, members }) =>
    change === 'removed' ? [resource] : members.flatMap((member) => describe(resource, member)),
  );

/** Returns lines such as `key ci of team`, for keys that are revoked in the store and active in the file. */
export const restoredKeys = (changes: readonly PlannedChange[]): string[] =>
  changes.filter(({ members }) => members.some(isRestored)).map(({ resource }) => resource);

const isRestored = ({ path, from, to }: MemberChange): boolean =>
  path === 'status' && from === 'revoked' && to === 'active';

function describe(resource: string, { path, from, to }: MemberChange): string[] {
  // These are entries of a list that no longer exist, or the whole list.
  if (to === undefined && path.endsWith(']')) return [`${path} of ${resource}`];
  if (to === undefined) return idsOf(from).map((id) => `${path}[${id}] of ${resource}`);
  if (switches.has(path.split('.').at(-1) ?? '') && offValues.has(to)) {
    return [path === 'status' ? `${resource} is ${String(to)}` : `${path} of ${resource} is ${to || 'off'}`];
  }
  // Calls are checked less than before.
  if (path === 'guardrails' && Array.isArray(from)) {
    const removedIds = from.filter((id) => !Array.isArray(to) || !to.includes(id));
    return removedIds.map((id) => `guardrail ${String(id)} of ${resource}`);
  }
  // Someone who loses a role may be at work.
  if (resource === 'access') return ['access is replaced: roles that the file does not name end'];
  if (path === 'active' && to === null) return [`active revision ${String(from)} of ${resource}`];
  return [];
}

const idsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.flatMap((entry) => (isMapping(entry) && 'id' in entry ? [String(entry.id)] : [])) : [];
