import { createHash, createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';

/** Returns the SHA-256 as 64 hex digits. */
export const sha256Hex = (content: string | Uint8Array): string => hash('sha256', content, 'hex');

/** Hashes long bytes in steps, and awaits `nextTurn` between the steps. */
export async function sha256OfLong(
  content: Uint8Array,
  pieceBytes: number,
  nextTurn: () => Promise<void>,
): Promise<string> {
  const hashing = createHash('sha256');
  for (let at = 0; at < content.length; at += pieceBytes) {
    if (at > 0) await nextTurn();
    hashing.update(content.subarray(at, at + pieceBytes));
  }
  return hashing.digest('hex');
}

/** Returns a function that computes HMAC-SHA-256 under one key, as base64url. */
export function createKeyedHash(key: string | Uint8Array): (content: string) => string {
  const secret = createSecretKey(Buffer.from(key));
  return (content) => createHmac('sha256', secret).update(content).digest('base64url');
}

/** Compares in constant time. Texts of different lengths are unequal. */
export function equalInConstantTime(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Writes JSON with fields in code-point order at every depth, so that equal values give equal text, whatever the
 * written sequence.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (value === null || typeof value !== 'object' || isRawNumber(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

// Parses and writes numbers without loss, because an integer beyond 2^53 (a seed, say) must reach the provider as it
// was sent, and JSON.parse would round it; `JSON.rawJSON` preserves its text. The types declare functions that V8 has
// and the compiler's library lacks.

interface RawJson {
  readonly rawJSON: string;
}

interface JsonWithSource {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

const json = JSON as unknown as JsonWithSource;

export const rawNumber = (text: string): RawJson => json.rawJSON(text);

export const isRawNumber = (value: unknown): value is RawJson => json.isRawJSON(value);
