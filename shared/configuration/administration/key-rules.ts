// What holds of every key that is made or changed: its name means it alone, it has not ended.
import { collect } from '../../foundation/parallel/index.ts';
import { holdersOf, isKeyExpired, type KeySettings, type NamedKey } from '../keys/index.ts';
import { ChangeFailed } from './change-failed.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

/** Settings that operators give a key. What is left out stays, or has its default. */
export type KeyChanges = {
  readonly [Name in Exclude<keyof KeySettings, 'status'>]?: KeySettings[Name] | undefined;
};

/** Throws ChangeFailed for an end that is over. */
export function checkKeyEnd({ clock }: Pick<AdministrationDependencies, 'clock'>, { expiresAtMs }: KeyChanges): void {
  if (expiresAtMs !== undefined && isKeyExpired({ expiresAtMs }, clock.nowMs())) {
    throw new ChangeFailed('invalid', 'the end of the key is not in the future; revoke it to end it now');
  }
}

/** Throws ChangeFailed where another active key of the workspace has the name, or gets it at this moment. */
export async function claimKeyName(
  { keys, clock }: Pick<AdministrationDependencies, 'keys' | 'clock'>,
  wanted: NamedKey,
): Promise<void> {
  const { workspace, name, publicId } = wanted;
  const nowMs = clock.nowMs();
  const holders = holdersOf(await collect(keys.list()), wanted, nowMs);
  const holder = holders.find((one) => one.publicId !== publicId)?.publicId ?? (await keys.claimName(wanted, nowMs));
  if (holder === publicId) return;
  throw new ChangeFailed(
    'taken',
    `${name} is taken in ${workspace} by the active key ${holder}: give another name, rotate that key (keys rotate ${name} --workspace ${workspace}) or revoke it`,
  );
}
