// Reads the one secret of a stage with every provider credential, which is a JSON object from name to credential. An
// absent name is not configured; only a secret that could not be read is a temporary fault.
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
  /** The secret's value is not a JSON object. */
  | { readonly kind: 'unreadable' };

/** Reads the secret. Throws when Secrets Manager does not answer, or does not let this function read. */
export type ReadSecret = () => Promise<SecretReading>;

interface ProviderSecretOptions {
  readonly access: AwsAccess;
  readonly randomness: Randomness;
  readonly secretId: string;
}

/**
 * Matches keys, which are short, and service account tokens, which are longer. With `Bearer ` in front, both stay far
 * below any header limit.
 */
const credentialShape = /^[\x21-\x7e]{1,4096}$/;
/** Maximum sockets. An instance reads one secret, at most every few seconds. */
const socketsMax = 2;
/** Bound of the answer. A secret has 64 KB at most, and JSON inside JSON may be six times as long. */
const answerMaxBytes = 512 * 1024;

/** Creates the reader; no request is made yet. */
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

/** True for InvalidRequest, which is the answer for a secret that is scheduled for deletion. */
const isAbsent = (error: unknown): boolean =>
  error instanceof ResourceNotFoundException || error instanceof InvalidRequestException;

function readValues(text = ''): SecretReading {
  const members = parseObject(text);
  if (members === undefined) return { kind: 'unreadable' };
  const all = Object.entries(members);
  // Someone who edits the secret by hand may write the JSON of a service account unquoted.
  const texts = all.map(([name, value]) => [name, isJsonObject(value) ? JSON.stringify(value) : value] as const);
  const usable = texts.filter((member): member is [string, string] => isProviderCredential(member[1]));
  return { kind: 'values', values: new Map(usable), unusable: all.length - usable.length };
}

/** Returns undefined for any other text, without the parser's own error, which quotes it. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Bound of the JSON of a service account, which has two to three kilobytes. */
const serviceAccountMaxCharacters = 16 * 1024;

/** True for a key, or for the JSON of a service account, blanks included. */
export const isProviderCredential = (value: unknown): boolean =>
  typeof value === 'string' && (isServiceAccount(value) || (credentialShape.test(value) && !value.startsWith('{')));

function isServiceAccount(text: string): boolean {
  if (text.length > serviceAccountMaxCharacters || !text.trimStart().startsWith('{')) return false;
  const members = parseObject(text) as JsonObject | undefined;
  return typeof members?.private_key === 'string' && typeof members.client_email === 'string';
}
