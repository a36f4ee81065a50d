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

export interface CredentialHeaders {
  /** `x-api-key` may carry the key too, as clients of Messages send it. */
  readonly acceptsApiKeyHeader?: boolean;
}

/** Throws UNAUTHORIZED where no header has a key, one was sent twice or is malformed, or two headers disagree. */
export function readCredential(headers: HeaderValues, { acceptsApiKeyHeader = false }: CredentialHeaders = {}): ApiKey {
  const bearer = textIn(headers[headerNames.authorization], (header) => bearerShape.exec(header)?.[1]);
  const plain = acceptsApiKeyHeader ? textIn(headers[headerNames.apiKey], (header) => header) : undefined;
  const [text, ...others] = new Set([bearer, plain].filter((one) => one !== undefined));
  const key = text === undefined || others.length > 0 ? undefined : parseApiKey(text);
  if (key === undefined) throw fail('UNAUTHORIZED');
  return key;
}

/** Undefined: it was not sent. Empty, which is no key: it was malformed. */
function textIn(
  values: readonly string[] | undefined,
  read: (header: string) => string | undefined,
): string | undefined {
  if (values === undefined || values.length === 0) return undefined;
  const [header = '', ...more] = values;
  return more.length > 0 ? '' : (read(header) ?? '');
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
