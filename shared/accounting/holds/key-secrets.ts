// Finds the text of a key that a call has, which is the current text or, until it expires, a text that a rotation
// replaced. Each text has its own status and expiry; everything else in the item, the counts included, belongs to the
// key whichever text a call has.
import type { Item } from '../../storage/store/index.ts';
import { keyAttributes } from './key-limits.ts';

export interface KeySecret {
  readonly publicId: string;
  readonly secretSha256: string;
  readonly status: 'active' | 'revoked';
  /** Expiry; null: never. */
  readonly expiresAtMs: number | null;
}

interface StoredFormer {
  readonly public_id: string;
  readonly secret_sha256: string;
  readonly status: KeySecret['status'];
  readonly expires_at_ms: number;
}

interface FormerSecret extends KeySecret {
  readonly expiresAtMs: number;
}

/** Maximum number of former texts, including expired texts. The oldest is removed first. */
const formerSecretsMax = 8;

export const currentSecret = (item: Item): KeySecret => ({
  publicId: String(item[keyAttributes.publicId] ?? item.pk),
  secretSha256: String(item[keyAttributes.secretSha256]),
  status: item[keyAttributes.status] as KeySecret['status'],
  expiresAtMs: (item[keyAttributes.expiresAtMs] ?? null) as number | null,
});

export const formerSecrets = (item: Item): FormerSecret[] =>
  ((item[keyAttributes.formerSecrets] ?? []) as readonly StoredFormer[]).map(
    ({ public_id, secret_sha256, status, expires_at_ms }) => ({
      publicId: public_id,
      secretSha256: secret_sha256,
      status,
      expiresAtMs: expires_at_ms,
    }),
  );

export const storedSecrets = (secrets: readonly FormerSecret[]): StoredFormer[] =>
  secrets.slice(0, formerSecretsMax).map(({ publicId, secretSha256, status, expiresAtMs }) => ({
    public_id: publicId,
    secret_sha256: secretSha256,
    status,
    expires_at_ms: expiresAtMs,
  }));

export function secretOf(item: Item, publicId: string): KeySecret | undefined {
  const current = currentSecret(item);
  return current.publicId === publicId ? current : formerSecrets(item).find((one) => one.publicId === publicId);
}

/** True if the text may be used, which ends at the moment of its expiry. */
export const isSecretActive = ({ status, expiresAtMs }: KeySecret, nowMs: number): boolean =>
  status === 'active' && (expiresAtMs === null || nowMs < expiresAtMs);
