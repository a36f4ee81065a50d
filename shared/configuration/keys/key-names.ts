// A name means one key of a workspace: the one that can be used and was not replaced in a rotation. Revoked and expired keys
// keep their names beside it, for the records of their calls.
import { isKeyExpired, type KeyRecord } from './key-record.ts';

export const holdsName = (record: KeyRecord, nowMs: number): boolean =>
  record.status === 'active' && record.replacedBy === null && !isKeyExpired(record, nowMs);

/** The key that has this name. Several where they were made before names were unique. */
export const holdersOf = (
  records: readonly KeyRecord[],
  { workspace, name }: Pick<KeyRecord, 'workspace' | 'name'>,
  nowMs: number,
): KeyRecord[] =>
  records.filter((record) => record.workspace === workspace && record.name === name && holdsName(record, nowMs));
