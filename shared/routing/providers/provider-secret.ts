// The one secret of a stage with every provider credential: a JSON object, name → credential. A name that is not there
// is not configured; only a secret that could not be read is a fault of the moment.
import {
  GetSecretValueCommand,
  InvalidRequestException,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type AwsAccess, awsClientSettings } from '../../storage/aws-clients/index.ts';
import { callWithAttempts } from '../../storage/store/index.ts';

export type SecretReading =
  /** Credentials by name. `unusable` counts the values that no header could carry. */
  | { readonly kind: 'values'; readonly values: ReadonlyMap<string, string>; readonly unusable: number }
  /** No such secret, or one that is being deleted. */
  | { readonly kind: 'absent' }
  /** It holds something else than a JSON object. */
  | { readonly kind: 'unreadable' };

/** Throws when Secrets Manager does not answer, or does not let this function read. */
export type ReadSecret = () => Promise<SecretReading>;

export interface ProviderSecretOptions {
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
  const usable = all.filter((member): member is [string, string] => isCredential(member[1]));
  return { kind: 'values', values: new Map(usable), unusable: all.length - usable.length };
}

/** Undefined for all else. Without the parser's own error, which quotes the text. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isCredential = (value: unknown): boolean => typeof value === 'string' && credentialShape.test(value);
