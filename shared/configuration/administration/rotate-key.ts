// A second key beside an active one, which ends when every client had the time to take the new one.
import { carriedSpending } from '../../accounting/holds/index.ts';
import { collect } from '../../foundation/parallel/index.ts';
import { changedSettings, holdersOf, type KeyRecord, newApiKey } from '../keys/index.ts';
import { ChangeFailed, refuseUnansweredKey } from './change-failed.ts';
import type { NewKey } from './change-keys.ts';
import { checkKeyEnd } from './key-rules.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'keys' | 'catalogues' | 'clock' | 'randomness' | 'cell'>;

export interface Rotation {
  readonly workspace: string;
  /** Which key, where it is known; left out: the only active one of the name. */
  readonly publicId?: string | undefined;
  /** Of the key that is replaced; the new one has it too. */
  readonly name: string;
  /** How long the former key goes on. */
  readonly graceMs: number;
  /** Of the new key. Left out: as the former. */
  readonly expiresAtMs?: number | null | undefined;
  /** Asked with the public id of the new key before it is made: throws where it may not be. */
  readonly claim?: ((publicId: string) => Promise<void>) | undefined;
}

export interface RotatedKey extends NewKey {
  readonly expiresAtMs: number | null;
  /** With its end. */
  readonly former: Pick<KeyRecord, 'publicId' | 'expiresAtMs'>;
  /** False: the store gave no answer, and the former key may have no end yet. */
  readonly isFormerEnding: boolean;
}

/** The new key has the settings of the former, and what that one has spent counts on it too. Throws ChangeFailed. */
export async function rotateKey(deps: Dependencies, rotation: Rotation): Promise<RotatedKey> {
  const { keys, clock, randomness, cell } = deps;
  const { workspace, name, graceMs } = rotation;
  checkKeyEnd(deps, rotation);
  const nowMs = clock.nowMs();
  const former = findOnly(await collect(keys.list()), rotation, nowMs);
  const { expiresAtMs = former.expiresAtMs } = rotation;
  const { text, publicId, secretSha256 } = newApiKey(randomness, cell);
  const successor = { ...former, expiresAtMs, publicId, secretSha256 };
  await rotation.claim?.(publicId);
  if ((await keys.claimName(successor, nowMs, former.publicId)) !== publicId) throw atTheSameMoment(rotation);
  // The successor first: a rotation that breaks off takes no key away.
  const counters = carriedSpending((await keys.readItem(former.publicId)) ?? {});
  await keys.write(successor, counters).catch(refuseUnansweredKey('keys', publicId));
  const endsAtMs = Math.min(nowMs + graceMs, former.expiresAtMs ?? Number.POSITIVE_INFINITY);
  // The new key is there and its text is known nowhere else: it is handed out all the same.
  const isReplaced = await keys.replace(former.publicId, publicId, endsAtMs).catch(() => undefined);
  if (isReplaced === false) {
    await keys.write({ workspace, name, publicId, secretSha256, status: 'revoked' });
    throw atTheSameMoment(rotation);
  }
  const isFormerEnding = isReplaced === true;
  // What another writer changed of the former key until it was replaced is of its successor too.
  if (isFormerEnding) await carryChanges(deps, former, successor).catch(() => undefined);
  const formerEnd = isFormerEnding ? endsAtMs : former.expiresAtMs;
  return { publicId, text, expiresAtMs, former: { publicId: former.publicId, expiresAtMs: formerEnd }, isFormerEnding };
}

async function carryChanges(
  { keys }: Pick<Dependencies, 'keys'>,
  copied: KeyRecord,
  successor: KeyRecord,
): Promise<void> {
  const {
    status: _status,
    replacedBy: _by,
    expiresAtMs: _end,
    name: _name,
    ...now
  } = (await keys.read(copied.publicId)) ?? copied;
  const changed = changedSettings(copied, now);
  if (changed.length === 0) return;
  const { status, replacedBy, expiresAtMs, name } = successor;
  await keys.update(successor, { ...now, status, replacedBy, expiresAtMs, name });
}

const atTheSameMoment = ({ workspace, name }: Rotation) =>
  new ChangeFailed(
    'conflict',
    `key ${name} of ${workspace} was rotated or revoked at the same moment: look at keys list`,
  );

/** The one that a name means. Throws ChangeFailed unless one active key has it. */
export const readActiveKey = async (
  { keys, clock }: Pick<Dependencies, 'keys' | 'clock'>,
  named: Pick<Rotation, 'workspace' | 'name'>,
): Promise<KeyRecord> => findOnly(await collect(keys.list()), named, clock.nowMs());

/** Throws ChangeFailed unless one active key has the name. */
function findOnly(
  records: readonly KeyRecord[],
  { workspace, name, publicId }: Pick<Rotation, 'workspace' | 'name' | 'publicId'>,
  nowMs: number,
): KeyRecord {
  const holders = holdersOf(records, { workspace, name }, nowMs);
  const [holder, ...others] = holders.filter((one) => publicId === undefined || one.publicId === publicId);
  if (holder === undefined) {
    const active = records.filter((record) => holdersOf([record], { ...record, workspace }, nowMs).length > 0);
    const names = active.map((record) => record.name).sort();
    const message = `workspace ${workspace} has no active key ${name}; there are ${names.join(', ') || 'none'}`;
    throw new ChangeFailed('absent', message);
  }
  if (others.length === 0) return holder;
  const ids = [holder, ...others].map(({ publicId }) => publicId).join(', ');
  throw new ChangeFailed(
    'conflict',
    `several active keys of ${workspace} are called ${name} (${ids}): rename or revoke all but one first`,
  );
}
