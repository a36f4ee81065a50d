// The one secret of a stage with every provider credential: a JSON object, name → credential. A name that is not there
// is not configured; only a secret that could not be read is a fault of the moment.
import {
  GetSecretValueCommand,
  InvalidRequestException,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { Randomness } from '../../foundation/ids/index.ts';
import { isJsonObject, type JsonObject } from '../../protocol/wire/index.ts';
import { type AwsAccess, awsClientSettings, callWithAttempts } from '../../storage/aws-clients/index.ts';

export type SecretReading =
  /** Credentials by name. `unusable` counts the values that are neither a key nor the JSON of a service account. */
  | { readonly kind: 'values'; readonly values: ReadonlyMap<string, string>; readonly unusable: number }
  /** The secret does not exist, or is being deleted. */
  | { readonly kind: 'absent' }
  /** Its value is no JSON object. */
  | { readonly kind: 'unreadable' };

/** Throws when Secrets Manager does not answer, or does not let this function read. */
export type ReadSecret = () => Promise<SecretReading>;

interface ProviderSecretOptions {
  readonly access: AwsAccess;
  readonly randomness: Randomness;
  readonly secretId: string;
}

/** Keys are short, service account tokens are not; with `Bearer ` in front it stays far below any header limit. */
const credentialShape = /^[\x21-\x7e]{1,4096}$/;
/** An instance reads one secret, at most every few seconds. */
const socketsMax = 2;
/** A secret is 64 KB at most; written as JSON inside JSON it may grow sixfold. */
const answerMaxBytes = 512 * 1024;

/** Calls nothing yet. */
export function providerSecret({ access, randomness, secretId }: ProviderSecretOptions): ReadSecret {
  const client = new SecretsManagerClient(awsClientSettings(access, { socketsMax, answerMaxBytes }));
  const { clock, callTimeoutMs: limitMs } = access;
  const attempts = { clock, randomness, limitMs, kind: 'repeatable' } as const;
  return async () => {
    try {
      const { SecretString } = await callWithAttempts(attempts, (abortSignal) =>
        client.send(new GetSecretValueCommand({ SecretId: secretId }), { abortSignal }),
      );
      return readValues(SecretString);
    } catch (error) {
      if (isAbsent(error)) return { kind: 'absent' };
      throw error;
    }
  };
}

/** InvalidRequest is the answer for a secret that is scheduled for deletion. */
const isAbsent = (error: unknown): boolean =>
  error instanceof ResourceNotFoundException || error instanceof InvalidRequestException;

function readValues(text = ''): SecretReading {
  const members = parseObject(text);
  if (members === undefined) return { kind: 'unreadable' };
  const all = Object.entries(members);
  // Who edits the secret by hand may write the JSON of a service account as it is.
  const texts = all.map(([name, value]) => [name, isJsonObject(value) ? JSON.stringify(value) : value] as const);
  const usable = texts.filter((member): member is [string, string] => isProviderCredential(member[1]));
  return { kind: 'values', values: new Map(usable), unusable: all.length - usable.length };
}

/** Returns undefined for anything else, without the parser's own error, which quotes the text. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The JSON of a service account has two to three kilobytes. */
const serviceAccountMaxCharacters = 16 * 1024;

/** A key, or the JSON of a service account, blanks and all. */
export const isProviderCredential = (value: unknown): boolean =>
  typeof value === 'string' && (isServiceAccount(value) || (credentialShape.test(value) && !value.startsWith('{')));

function isServiceAccount(text: string): boolean {
  if (text.length > serviceAccountMaxCharacters || !text.trimStart().startsWith('{')) return false;
  const members = parseObject(text) as JsonObject | undefined;
  return typeof members?.private_key === 'string' && typeof members.client_email === 'string';
}
