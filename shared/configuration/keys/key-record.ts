// An API key in the table `keys`, one item per public id:
//
//   pk                    the 16 characters after `sk-gw-`: safe to log
//   workspace, name
//   secret_sha256         the secret itself is stored nowhere
//   status                active | revoked
//   requests_per_minute, concurrency, spend_limit_usd
//                         limits, which admission counts in attributes of its own beside them
//   expires_at_ms, models, spend_limit_reset
//                         what it may be used for, and until when; null or absent: no such rule
//   tags                  on each of its calls; null or absent: none
//   owner                 who made it for themselves; null or absent: an operator made it
//   replaced_by           public id of the key that a rotation made beside it; null or absent: none
//
// Beside them one item per workspace and name (key-names.ts): `name#WORKSPACE#NAME`, with the key that claimed it last.
import { keyAttributes } from '../../accounting/holds/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { type KeySettings, readKeySettings, settingAttributes } from './key-settings.ts';

export interface KeyRecord extends KeySettings {
  readonly publicId: string;
  readonly workspace: string;
  /** SHA-256 of the secret part, hex. */
  readonly secretSha256: string;
}

/** A setting that is left out stays as it is stored, also when another writer changes it, or has its default. */
export type WantedKey = Pick<KeyRecord, 'publicId' | 'workspace' | 'secretSha256' | 'name'> & {
  readonly [Name in Exclude<keyof KeySettings, 'name'>]?: KeySettings[Name] | undefined;
};

export const itemOf = (wanted: WantedKey): Item => ({
  pk: wanted.publicId,
  workspace: wanted.workspace,
  [keyAttributes.secretSha256]: wanted.secretSha256,
  ...settingAttributes(wanted),
});

export const recordOf = (item: Item): KeyRecord => ({
  publicId: item.pk as string,
  workspace: item.workspace as string,
  secretSha256: item[keyAttributes.secretSha256] as string,
  ...readKeySettings(item),
});

/** What a key may call of the models of its workspace. */
export const modelsOfKey = (
  workspaceModels: 'all' | readonly string[],
  { models }: Pick<KeySettings, 'models'>,
): 'all' | readonly string[] => {
  if (models === null) return workspaceModels;
  return models.filter((id) => workspaceModels === 'all' || workspaceModels.includes(id));
};

/** The time counts up to, not including, the end. */
export const isKeyExpired = ({ expiresAtMs }: Pick<KeySettings, 'expiresAtMs'>, nowMs: number): boolean =>
  expiresAtMs !== null && nowMs >= expiresAtMs;
