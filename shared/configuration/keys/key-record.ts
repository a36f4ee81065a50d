/** An API key as the keys table holds it. The secret itself is nowhere: only its hash (contract 1). */
export interface KeyRecord {
  /** The 16 characters after `sk-gw-`: the table key, safe to log. */
  publicId: string;
  workspace: string;
  name: string;
  /** SHA-256 of the secret part, hex. */
  secretSha256: string;
  status: 'active' | 'revoked';
  /** Requests per minute; null: no limit. */
  rpm: number | null;
  spendLimitUsd: string | null;
}
