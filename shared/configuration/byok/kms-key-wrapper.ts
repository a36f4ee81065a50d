// The master key in KMS: it never leaves the service, every use of it is in CloudTrail, and the place a data key was
// made for is authenticated as its encryption context.
import {
  DecryptCommand,
  GenerateDataKeyCommand,
  IncorrectKeyException,
  InvalidCiphertextException,
  KMSClient,
} from '@aws-sdk/client-kms';
import { once } from '../../foundation/cache/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type AwsAccess, awsClientSettings } from '../../storage/aws-clients/index.ts';
import { callWithAttempts } from '../../storage/store/index.ts';
import { SealBroken } from './aes-gcm.ts';
import type { DataKey, KeyWrapper, SealContext } from './key-wrapper.ts';

const dataKeyBytes = 32;
/** What KMS takes as a wrapped key; it refuses others like any malformed request. */
const wrappedMaxBytes = 6144;
const socketsMax = 64;
/** A wrapped key, or an error. */
const answerMaxBytes = 64 * 1024;

export interface KmsKeyWrapperOptions {
  readonly access: AwsAccess;
  readonly randomness: Randomness;
  readonly keyId: string;
}

/** Calls nothing yet, and makes no client: few instances serve a call with a stored connection. */
export function kmsKeyWrapper({ access, randomness, keyId }: KmsKeyWrapperOptions): KeyWrapper {
  const kms = once(() => new KMSClient(awsClientSettings(access, { socketsMax, answerMaxBytes })));
  const { clock, callTimeoutMs: limitMs } = access;
  const attempts = { clock, randomness, limitMs, kind: 'repeatable' } as const;
  return {
    async createDataKey(context): Promise<DataKey> {
      const input = { KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: contextOf(context) } as const;
      const { Plaintext, CiphertextBlob, KeyId } = await callWithAttempts(attempts, (abortSignal) =>
        kms().send(new GenerateDataKeyCommand(input), { abortSignal }),
      );
      // KMS answers with the ARN, also where an alias was asked for.
      return { clear: readDataKey(Plaintext), wrapped: readBytes(CiphertextBlob), wrappedBy: KeyId };
    },
    async unwrap(wrapped, context) {
      if (wrapped.byteLength === 0 || wrapped.byteLength > wrappedMaxBytes) throw new SealBroken();
      // The key is named, so that bytes which another key of the account wrapped do not open.
      const input = { KeyId: keyId, CiphertextBlob: wrapped, EncryptionContext: contextOf(context) };
      try {
        const { Plaintext } = await callWithAttempts(attempts, (abortSignal) =>
          kms().send(new DecryptCommand(input), { abortSignal }),
        );
        return readDataKey(Plaintext);
      } catch (error) {
        if (isBrokenSeal(error)) throw new SealBroken();
        throw error;
      }
    },
  };
}

/** The answers to bytes that were changed, that stand in another place, or that another key wrapped. */
const isBrokenSeal = (error: unknown): boolean =>
  error instanceof InvalidCiphertextException || error instanceof IncorrectKeyException;

/** Member by member: what is not named here is not authenticated. */
const contextOf = ({ workspace, connection, stage }: SealContext) => ({ workspace, connection, stage });

function readDataKey(bytes: Uint8Array | undefined): Buffer {
  const key = readBytes(bytes);
  if (key.byteLength !== dataKeyBytes) throw new Error('KMS answered with no key of 256 bits');
  return key;
}

/** The same memory: a copy of a clear key would not be overwritten with it. */
function readBytes(bytes: Uint8Array | undefined): Buffer {
  if (bytes === undefined || bytes.byteLength === 0) throw new Error('KMS answered without the bytes of a key');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
