// Who calls (spec 5). The shape of the key is checked before any I/O; the record is read on every request and never
// kept, so a revoked key ends with the next one.
import { fail } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import { equalInConstantTime } from '../../foundation/ids/index.ts';
import type { HeaderValues } from '../../protocol/http/index.ts';
import { type ApiKey, parseApiKey } from './api-key.ts';
import type { KeyRecord } from './key-record.ts';

/** The scheme's name is case-insensitive; anything after the key makes it malformed (contract 1). */
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

/** Throws UNAUTHORIZED for an unknown key, or `revokedCode` for a revoked one (spec 5.2). */
export async function authenticate(
  keys: KeyReader,
  credential: ApiKey,
  revokedCode: 'UNAUTHORIZED' | 'api_key_revoked',
): Promise<KeyRecord> {
  const record = await keys.read(credential.publicId);
  if (record === undefined || !equalInConstantTime(record.secretSha256, credential.secretSha256)) {
    throw fail('UNAUTHORIZED');
  }
  if (record.status !== 'active') throw fail(revokedCode);
  return record;
}
