// Finds the key of a request. The key's pattern is checked before any I/O; the record is read on every request and
// never cached, so a revoked key ends with the next request.

import { isSecretActive, type KeySecret } from '../../accounting/holds/index.ts';
import { fail, type GatewayError } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import { equalInConstantTime } from '../../foundation/ids/index.ts';
import { type AuthenticatedRequest, type CredentialPlace, credentialPlaces } from '../../protocol/interfaces/index.ts';
import { type ApiKey, parseApiKey } from './api-key.ts';
import type { KeyRecord } from './key-record.ts';

/** Matches a header; the scheme's name is case-insensitive, and anything after the key makes it malformed. */
const bearerShape = /^bearer +([^ ]+)$/i;

interface CredentialReading {
  readonly credentialPlace?: CredentialPlace;
  /** Returns the error of a header that has no key. */
  readonly refuse?: (reason: keyof typeof reasons, place: CredentialPlace) => GatewayError;
}

/**
 * Returns the key of this gateway among those sent; a key of another service next to it is ignored. Throws UNAUTHORIZED
 * if no key, or two different keys, are of this gateway.
 */
export function readCredential(
  request: AuthenticatedRequest,
  { credentialPlace = credentialPlaces.bearer, refuse = refuseKey }: CredentialReading = {},
): ApiKey {
  const { headers } = request;
  const refusal = credentialPlace.refusal?.(request);
  if (refusal !== undefined) throw fail('UNAUTHORIZED', { message: refusal });
  const bearer = textIn(headers[headerNames.authorization], (header) => bearerShape.exec(header)?.[1]);
  const plain =
    credentialPlace.header === undefined ? undefined : textIn(headers[credentialPlace.header], (header) => header);
  const values = [bearer, plain].filter((one) => one !== undefined);
  if (values.length === 0) throw refuse('missing', credentialPlace);
  const [text, ...others] = new Set(values.filter((one) => parseApiKey(one) !== undefined));
  if (others.length > 0) throw refuse('different', credentialPlace);
  const key = text === undefined ? undefined : parseApiKey(text);
  if (key === undefined) throw refuse(isWithoutScheme(headers) ? 'scheme' : 'malformed', credentialPlace);
  return key;
}

/** True for a single `Authorization` header that is only a key of this gateway, or has another scheme than `Bearer`. */
function isWithoutScheme({ [headerNames.authorization]: values = [] }: AuthenticatedRequest['headers']): boolean {
  const [header = '', ...more] = values;
  return more.length === 0 && header !== '' && !/^bearer( |$)/i.test(header);
}

/** Matches the scheme without a key. SDKs with an empty key send it. */
const emptyShape = /^(bearer)? *$/i;

/** Returns undefined when no key was sent, and an empty text, which is not a key, for a malformed one. */
function textIn(
  values: readonly string[] | undefined,
  read: (header: string) => string | undefined,
): string | undefined {
  if (values === undefined || values.length === 0) return undefined;
  const [header = '', ...more] = values;
  if (more.length === 0 && emptyShape.test(header)) return undefined;
  return more.length > 0 ? '' : (read(header) ?? '');
}

export interface KeyReader {
  read(publicId: string): Promise<KeyRecord | undefined>;
}

/** Throws UNAUTHORIZED for a key that is unknown, revoked or expired. */
export async function authenticate(keys: KeyReader, credential: ApiKey, nowMs: number): Promise<KeyRecord> {
  const record = await keys.read(credential.publicId);
  if (record === undefined || !equalInConstantTime(record.secretSha256, credential.secretSha256)) {
    throw refuseKey('unknown');
  }
  if (!isSecretActive(record, nowMs)) throw refuseEndedKey(record);
  return record;
}

// Reasons for the refusal of a key, each with its own text, so that its client knows how to correct the key. The texts
// name no header, because some agents interpret a text with a header as a failure of their own log-in, and hide it.

const reasons = {
  missing: 'No API key was sent. It is sent as `Authorization: Bearer <key>`.',
  malformed:
    'The API key that was sent does not have the form of a key of this gateway: it is mistyped or cut off, belongs to another service, or was sent twice.',
  scheme: 'The header that was sent does not begin with `Bearer `. It is `Authorization: Bearer <key>`.',
  different: 'Two different API keys of this gateway were sent.',
  unknown: 'This gateway has no such API key.',
} as const;

export function refuseKey(
  reason: keyof typeof reasons,
  { variables }: CredentialPlace = credentialPlaces.bearer,
): GatewayError {
  const advice =
    reason === 'different' && variables.length > 0
      ? ` Unset one of the variables ${variables.join(' and ')} of the client.`
      : '';
  return fail('UNAUTHORIZED', { message: reasons[reason] + advice });
}

/** Returns the refusal of a key whose secret is right, by its state at that moment. */
export function refuseEndedKey(
  { status, expiresAtMs = null }: Partial<Pick<KeySecret, 'status' | 'expiresAtMs'>> = {},
  asksFunction = false,
): GatewayError {
  const message =
    status === 'active' && expiresAtMs !== null
      ? `The API key expired at ${new Date(expiresAtMs).toISOString()}.`
      : 'The API key was revoked.';
  return fail(asksFunction ? 'api_key_revoked' : 'UNAUTHORIZED', { message });
}
