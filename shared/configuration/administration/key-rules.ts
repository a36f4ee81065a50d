// Checks the rules for making and changing a key: its name is unique, and it has not expired.
import {
  contentLogFault,
  isKeyExpired,
  type KeyRecord,
  type KeySettings,
  type KeyStore,
  type KeyWrite,
  takesName,
  type WantedKey,
} from '../keys/index.ts';
import type { WorkspaceDocument } from '../workspaces/index.ts';
import { ChangeFailed, refuseAs } from './change-failed.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

/** Settings that operators give a key. An absent setting keeps its value, or has its default. */
export type KeyChanges = {
  readonly [Name in Exclude<keyof KeySettings, 'status'>]?: KeySettings[Name] | undefined;
};

/** Throws ChangeFailed for an expiry in the past. */
export function checkKeyEnd({ clock }: Pick<AdministrationDependencies, 'clock'>, { expiresAtMs }: KeyChanges): void {
  if (expiresAtMs !== undefined && isKeyExpired({ expiresAtMs }, clock.nowMs())) {
    throw new ChangeFailed('invalid', 'the end of the key is not in the future; revoke it to end it now', {
      param: 'expires_at',
    });
  }
}

/** Throws ChangeFailed for a key that would store more of its calls than its workspace. */
export function checkContentLog({ content_log }: Pick<WorkspaceDocument, 'content_log'>, wanted: KeyChanges): void {
  const fault = contentLogFault(content_log, wanted.contentLog);
  if (fault === undefined) return;
  const param = `content_log.${fault.member}`;
  throw new ChangeFailed('invalid', `${param} ${fault.message}`, { param });
}

/**
 * Makes a key, or writes the differences from the key that was read. Throws ChangeFailed if another active key of the
 * workspace has the name, or gets it at the same time.
 */
export async function writeKey(
  keys: KeyStore,
  former: KeyRecord | undefined,
  wanted: WantedKey,
  nowMs: number,
): Promise<KeyWrite> {
  const { workspace, name, publicId } = wanted;
  const holder = takesName(former, wanted, nowMs)
    ? await keys.claimName({ workspace, name, publicId }, nowMs)
    : publicId;
  if (holder === publicId) {
    const writing = former === undefined ? keys.write(wanted) : keys.update(former, wanted);
    return writing.catch(refuseAs('conflict'));
  }
  throw new ChangeFailed(
    'taken',
    `${name} is taken in ${workspace} by the active key ${holder}: give another name, rotate that key (keys rotate ${name} --workspace ${workspace}) or revoke it`,
  );
}
