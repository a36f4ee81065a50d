// The one secret of a stage with every provider credential: a JSON object, name → credential. A name that is not there
// is not configured; only a secret that could not be asked for is a fault of the moment.
import { AwsCallFailed, type AwsService, callOperation, parseObject } from '../../storage/aws-calls/index.ts';

export type SecretReading =
  /** Credentials by name. `unusable` counts the values that no header could carry. */
  | { readonly kind: 'values'; readonly values: ReadonlyMap<string, string>; readonly unusable: number }
  /** No such secret, or one that is being deleted. */
  | { readonly kind: 'absent' }
  /** It holds something else than a JSON object. */
  | { readonly kind: 'unreadable' };

/** Throws when Secrets Manager does not answer, or does not let this function read. */
export type ReadSecret = () => Promise<SecretReading>;

/** InvalidRequest is what it says of a secret that is scheduled for deletion. */
const absentCodes = new Set(['ResourceNotFoundException', 'InvalidRequestException']);
/** Keys are short, service account tokens are not; with `Bearer ` in front it stays far below any header limit. */
const credentialShape = /^[\x21-\x7e]{1,4096}$/;

export const providerSecret =
  (secretsManager: AwsService, secretId: string): ReadSecret =>
  async () => {
    try {
      const answer = await callOperation(secretsManager, 'secretsmanager.GetSecretValue', { SecretId: secretId });
      return readValues(answer.SecretString);
    } catch (error) {
      if (error instanceof AwsCallFailed && absentCodes.has(error.code)) return { kind: 'absent' };
      throw error;
    }
  };

function readValues(text: unknown): SecretReading {
  const members = typeof text === 'string' ? parseObject(text) : undefined;
  if (members === undefined) return { kind: 'unreadable' };
  const all = Object.entries(members);
  const usable = all.filter((member): member is [string, string] => isCredential(member[1]));
  return { kind: 'values', values: new Map(usable), unusable: all.length - usable.length };
}

const isCredential = (value: unknown): boolean => typeof value === 'string' && credentialShape.test(value);
