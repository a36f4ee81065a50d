// The two sides of a change, in the words of the file, compared. No secret is in either: keys and credentials are compared
// in their stores.
import { formatUsd } from '../../foundation/money/index.ts';
import type { Connection, ConnectionChange } from '../byok/index.ts';
import { type KeyRecord, type WantedKey, writtenKey } from '../keys/index.ts';
import type { FunctionDocument, FunctionStore, PlannedFunction } from '../stored-functions/index.ts';
import { changedMembers, type MemberChange } from './changed-members.ts';

export function connectionMembers({ former, next, hasNewKey }: ConnectionChange): MemberChange[] {
  const key = hasNewKey ? [{ path: 'key' }] : [];
  return [...changedMembers(former && writtenConnection(former), next && writtenConnection(next)), ...key];
}

const writtenConnection = ({ policy, budgetPicoUsd, keySource }: Connection) => ({
  key: keySource,
  policy,
  budget_usd: budgetPicoUsd === null ? null : formatUsd(budgetPicoUsd),
});

export function keyMembers(former: KeyRecord | undefined, wanted: WantedKey): MemberChange[] {
  if (former === undefined) return [];
  const settings = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return changedMembers(writtenKey(former), writtenKey({ ...former, ...Object.fromEntries(settings) }));
}

/** Of the revisions that the file names: others stay as they are. */
export async function functionMembers(
  functions: Pick<FunctionStore, 'readContent'>,
  { revisions: declared }: FunctionDocument,
  { change, former, next }: PlannedFunction,
): Promise<MemberChange[]> {
  if (change !== 'changed' || former === undefined) return [];
  const stored: unknown[] = [];
  for (const { id } of declared) {
    const revision = former.revisions.get(id);
    if (revision === undefined) continue;
    const { kind: _kind, ...content } = (await functions.readContent(former, revision)).content;
    stored.push({ id, state: revision.state, ...content });
  }
  const wanted = declared.map((revision) => ({ ...revision, state: next.revisions.get(revision.id)?.state }));
  const members = changedMembers(
    { status: former.status, active: former.active, revisions: stored },
    { status: next.status, active: next.active, revisions: wanted },
  );
  // The rest of a draft is the order of its members, which counts.
  return members.length > 0 ? members : [{ path: 'order of members' }];
}
