// Which key a request carries. Its shape is checked before any I/O; the record is read on every request and never
// kept, so a revoked key ends with the next one.
import { fail } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import { equalInConstantTime } from '../../foundation/ids/index.ts';
import type { HeaderValues } from '../../protocol/http/index.ts';
import { type ApiKey, parseApiKey } from './api-key.ts';
import { isKeyExpired, type KeyRecord } from './key-record.ts';

/** The scheme's name is case-insensitive; anything after the key makes it malformed. */
const bearerShape = /^bearer +([^ ]+)$/i;

/** Throws UNAUTHORIZED where the header is missing, sent twice or malformed. */
export function readCredential(headers: HeaderValues): ApiKey {
  const [header, ...more] = headers[headerNames.authorization] ?? [];
  const text = more.length > 0 ? undefined : bearerShape.exec(header ?? '')?.[1];
  const key = text === undefined ? undefined : parseApiKey(text);
  if (key === undefined) throw fail('UNAUTHORIZED');
  return key;
}

export interface KeyReader {
  read(publicId: string): Promise<KeyRecord | undefined>;
}

/** Throws UNAUTHORIZED for a key that is unknown, revoked or expired. */
export async function authenticate(keys: KeyReader, credential: ApiKey, nowMs: number): Promise<KeyRecord> {
  const record = await keys.read(credential.publicId);
  if (record === undefined || !equalInConstantTime(record.secretSha256, credential.secretSha256)) {
    throw fail('UNAUTHORIZED');
  }
  if (record.status !== 'active' || isKeyExpired(record, nowMs)) throw fail('UNAUTHORIZED');
  return record;
}
