// An API key in the table `keys`, one item per public id:
//
//   pk                    the 16 characters after `sk-gw-`: safe to log
//   workspace, name
//   secret_sha256         the secret itself is stored nowhere (contract 1)
//   status                active | revoked
//   requests_per_minute, spend_limit_usd
//                         limits, which admission counts in attributes of its own beside them
//   expires_at_ms, models, spend_limit_reset
//                         what it may be used for, and until when; null or absent: no such rule
//   replaced_by           public id of the key that a rotation made beside it; null or absent: none
//
// Beside them one item per workspace and name (key-names.ts): `name#WORKSPACE#NAME`, with the key that claimed it last.
import type { Item } from '../../storage/store/index.ts';

export const spendLimitResets = ['daily', 'weekly', 'monthly'] as const;
export type SpendLimitReset = (typeof spendLimitResets)[number];

/** What a key may be used for, and until when (contract 16). */
export interface KeyRules {
  /** From here on the key is expired. Null: never. */
  readonly expiresAtMs: number | null;
  /** Ids of the models that the key may call; any other is unknown to it. Null: those of its workspace. */
  readonly models: readonly string[] | null;
  /** When the spending that counts against the limit starts again (UTC). Null: never. */
  readonly spendLimitReset: SpendLimitReset | null;
}

export interface KeySettings extends KeyRules {
  readonly name: string;
  readonly status: 'active' | 'revoked';
  /** Requests per minute; null: no limit. */
  readonly rpm: number | null;
  readonly spendLimitUsd: string | null;
  /** Public id of the key that took its name in a rotation. Null: none. */
  readonly replacedBy: string | null;
}

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

const defaults: KeySettings = {
  // Always given.
  name: '',
  status: 'active',
  rpm: null,
  spendLimitUsd: null,
  expiresAtMs: null,
  models: null,
  spendLimitReset: null,
  replacedBy: null,
};

export const attributes = {
  name: 'name',
  status: 'status',
  rpm: 'requests_per_minute',
  spendLimitUsd: 'spend_limit_usd',
  expiresAtMs: 'expires_at_ms',
  models: 'models',
  spendLimitReset: 'spend_limit_reset',
  replacedBy: 'replaced_by',
} as const satisfies Record<keyof KeySettings, string>;

export const settingNames = Object.keys(attributes) as (keyof KeySettings)[];

export const itemOf = (wanted: WantedKey): Item => ({
  pk: wanted.publicId,
  workspace: wanted.workspace,
  secret_sha256: wanted.secretSha256,
  ...Object.fromEntries(settingNames.map((name) => [attributes[name], wanted[name] ?? defaults[name]])),
});

export const recordOf = (item: Item): KeyRecord => ({
  publicId: item.pk as string,
  workspace: item.workspace as string,
  name: item.name as string,
  secretSha256: item.secret_sha256 as string,
  status: item.status as KeyRecord['status'],
  rpm: item.requests_per_minute as number | null,
  spendLimitUsd: item.spend_limit_usd as string | null,
  replacedBy: (item.replaced_by ?? null) as string | null,
  ...readKeyRules(item),
});

export const readKeyRules = (item: Item): KeyRules => ({
  expiresAtMs: (item.expires_at_ms ?? null) as number | null,
  models: (item.models ?? null) as readonly string[] | null,
  spendLimitReset: (item.spend_limit_reset ?? null) as SpendLimitReset | null,
});

/** What a key may call of the models of its workspace. */
export const modelsOfKey = (
  workspaceModels: 'all' | string[],
  { models }: Pick<KeyRules, 'models'>,
): 'all' | string[] => {
  if (models === null) return workspaceModels;
  return models.filter((id) => workspaceModels === 'all' || workspaceModels.includes(id));
};

/** The time counts up to, not including, the end. */
export const isKeyExpired = ({ expiresAtMs }: Pick<KeyRules, 'expiresAtMs'>, nowMs: number): boolean =>
  expiresAtMs !== null && nowMs >= expiresAtMs;
