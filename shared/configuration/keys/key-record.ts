// Defines an API key in the table `keys`, one item with all its texts:
//
//   pk                    the 16 characters after `sk-gw-` of its first text: safe to log
//   workspace, name
//   secret_sha256         the secret itself is stored nowhere
//   status                active | revoked
//   requests_per_minute, models, tags, …
//                         a setting each (setting-rows.ts); null or absent: none. Admission counts in the same item
//   owner                 the person who made it for themselves; null or absent: an operator made it
//   public_id             of its text; absent: that is the first
//   former_secrets        texts that rotations replaced, each with public id, hash, status and end
//
// In addition there is one item per workspace and name (key-names.ts): `name#WORKSPACE#NAME`, with the key that claimed
// it last, and one per text that a rotation made: `rotated_from`, the item of its key.
import { currentSecret, formerSecrets, keyAttributes } from '../../accounting/holds/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import { type KeySettings, readKeySettings, settingAttributes } from './key-settings.ts';

export interface KeyRecord extends KeySettings {
  readonly publicId: string;
  readonly workspace: string;
  /** SHA-256 of the secret part, hex. */
  readonly secretSha256: string;
  /** Public id of the text that replaced this text in a rotation. Null: none. */
  readonly replacedBy: string | null;
}

/** A key to write. An absent setting keeps its stored value, even if another writer changes it, or has its default. */
export type WantedKey = Pick<KeyRecord, 'publicId' | 'workspace' | 'secretSha256' | 'name'> & {
  readonly [Name in Exclude<keyof KeySettings, 'name'>]?: KeySettings[Name] | undefined;
};

export const itemOf = (wanted: WantedKey): Item => ({
  pk: wanted.publicId,
  workspace: wanted.workspace,
  [keyAttributes.secretSha256]: wanted.secretSha256,
  ...settingAttributes(wanted),
});

/** Returns a record for each text of the key, the current text first. The records differ in status and end. */
export function recordsOf(item: Item): KeyRecord[] {
  const current = currentSecret(item);
  const common = { ...readKeySettings(item), workspace: item.workspace as string };
  const replacedBy = current.publicId;
  return [
    { ...common, ...current, replacedBy: null },
    ...formerSecrets(item).map((former) => ({ ...common, ...former, replacedBy })),
  ];
}

export const recordOf = (item: Item, publicId: string): KeyRecord | undefined =>
  recordsOf(item).find((record) => record.publicId === publicId);

const rotatedFrom = 'rotated_from';

/** Returns the item that points to the key, which is written before the text to which it belongs. */
export const pointerTo = (item: Item, publicId: string): Item => ({ pk: publicId, [rotatedFrom]: item.pk });
export const isPointer = (item: Item): boolean => item[rotatedFrom] !== undefined;

/** Returns the item of the key that has, or had, a text with this public id. Strongly consistent. */
export async function readKeyItem(store: Pick<Store, 'get'>, publicId: string): Promise<Item | undefined> {
  const item = await store.get('keys', publicId);
  return item !== undefined && isPointer(item) ? store.get('keys', String(item[rotatedFrom])) : item;
}

/** Returns the models of its workspace that a key may call. */
export const modelsOfKey = (
  workspaceModels: 'all' | readonly string[],
  { models }: Pick<KeySettings, 'models'>,
): 'all' | readonly string[] => {
  if (models === null) return workspaceModels;
  return models.filter((id) => workspaceModels === 'all' || workspaceModels.includes(id));
};

/** True at the expiry, and after it. */
export const isKeyExpired = ({ expiresAtMs }: Pick<KeySettings, 'expiresAtMs'>, nowMs: number): boolean =>
  expiresAtMs !== null && nowMs >= expiresAtMs;
