// Makes a second text of an active key; the former text ends when every client has had time to use the new one.
import { collect } from '../../foundation/parallel/index.ts';
import { holdersOf, type KeyRecord, newApiKey } from '../keys/index.ts';
import { ChangeFailed, refuseAs, refuseUnanswered } from './change-failed.ts';
import type { NewKey } from './change-keys.ts';
import { checkKeyEnd } from './key-rules.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'keys' | 'catalogues' | 'clock' | 'randomness' | 'cell'>;

interface Rotation {
  readonly workspace: string;
  /** The key; if absent, the only active key with the name. */
  readonly publicId?: string | undefined;
  /** Name of the replaced key, which is also the name of the new key. */
  readonly name: string;
  /** Time for which the former key stays valid. */
  readonly graceMs: number;
  /** Expiry of the new key; if absent, the expiry of the former key. */
  readonly expiresAtMs?: number | null | undefined;
  /** Called with the public id of the new key before the key is made. Throws if the key may not be made. */
  readonly claim?: ((publicId: string) => Promise<void>) | undefined;
}

interface RotatedKey extends NewKey {
  readonly expiresAtMs: number | null;
  /** The former key with its expiry. */
  readonly former: { readonly publicId: string; readonly expiresAtMs: number };
}

/** Makes a second text of the same key, with its settings and its spending. Throws ChangeFailed. */
export async function rotateKey(deps: Dependencies, rotation: Rotation): Promise<RotatedKey> {
  const { keys, clock, randomness, cell } = deps;
  const { graceMs } = rotation;
  checkKeyEnd(deps, rotation);
  const nowMs = clock.nowMs();
  const former = findOnly(await collect(keys.list()), rotation, nowMs);
  const { expiresAtMs = former.expiresAtMs } = rotation;
  const { text, publicId, secretSha256 } = newApiKey(randomness, cell);
  await rotation.claim?.(publicId);
  const endsAtMs = Math.min(nowMs + graceMs, former.expiresAtMs ?? Number.POSITIVE_INFINITY);
  const next = { publicId, secretSha256, expiresAtMs };
  const rotating = keys.rotate(former, next, endsAtMs).catch(refuseAs('conflict'));
  const isRotated = await rotating.catch(refuseUnansweredRotation(publicId));
  if (!isRotated) throw atTheSameMoment(rotation);
  return { publicId, text, expiresAtMs, former: { publicId: former.publicId, expiresAtMs: endsAtMs } };
}

const refuseUnansweredRotation = (publicId: string) =>
  refuseUnanswered(`should keys list show ${publicId}, rotate it again: its text is lost`);

const atTheSameMoment = ({ workspace, name }: Rotation) =>
  new ChangeFailed(
    'conflict',
    `key ${name} of ${workspace} was rotated or revoked at the same moment: look at keys list`,
  );

/** Returns the key that a name means. Throws ChangeFailed unless exactly one active key has it. */
export const readActiveKey = async (
  { keys, clock }: Pick<Dependencies, 'keys' | 'clock'>,
  named: Pick<Rotation, 'workspace' | 'name'>,
): Promise<KeyRecord> => findOnly(await collect(keys.list()), named, clock.nowMs());

/** Throws ChangeFailed unless exactly one active key has the name. */
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
