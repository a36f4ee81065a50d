// The master key in KMS: it never leaves the service, every use of it is in CloudTrail, and the place a data key was
// made for is authenticated as its encryption context.
import { AwsCallFailed, type AwsService, callOperation } from '../../storage/aws-calls/index.ts';
import { SealBroken } from './aes-gcm.ts';
import type { DataKey, KeyWrapper, SealContext } from './key-wrapper.ts';

const dataKeyBytes = 32;
/** What KMS takes as a wrapped key; it refuses others like any malformed request. */
const wrappedMaxBytes = 6144;

/** What KMS says to bytes that were changed, that stand in another place, or that another key wrapped. */
const brokenSealCodes = new Set(['InvalidCiphertextException', 'IncorrectKeyException']);

export interface KmsKeyWrapperOptions {
  readonly kms: AwsService;
  readonly keyId: string;
}

export function kmsKeyWrapper({ kms, keyId }: KmsKeyWrapperOptions): KeyWrapper {
  return {
    async createDataKey(context): Promise<DataKey> {
      const input = { KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: contextOf(context) };
      const { Plaintext, CiphertextBlob, KeyId } = await callOperation(kms, 'TrentService.GenerateDataKey', input);
      return {
        clear: readDataKey(Plaintext),
        wrapped: readBytes(CiphertextBlob),
        // KMS answers with the ARN, also where an alias was asked for.
        wrappedBy: typeof KeyId === 'string' ? KeyId : undefined,
      };
    },
    async unwrap(wrapped, context) {
      if (wrapped.byteLength === 0 || wrapped.byteLength > wrappedMaxBytes) throw new SealBroken();
      const input = {
        // Named, so that bytes which some other key of the account wrapped do not open.
        KeyId: keyId,
        CiphertextBlob: Buffer.from(wrapped).toString('base64'),
        EncryptionContext: contextOf(context),
      };
      try {
        return readDataKey((await callOperation(kms, 'TrentService.Decrypt', input)).Plaintext);
      } catch (error) {
        if (error instanceof AwsCallFailed && brokenSealCodes.has(error.code)) throw new SealBroken();
        throw error;
      }
    },
  };
}

/** Member by member: what is not named here is not authenticated. */
const contextOf = ({ workspace, connection, stage }: SealContext) => ({ workspace, connection, stage });

function readDataKey(value: unknown): Buffer {
  const key = readBytes(value);
  if (key.byteLength !== dataKeyBytes) throw new Error('KMS answered with no key of 256 bits');
  return key;
}

function readBytes(value: unknown): Buffer {
  if (typeof value !== 'string' || value === '') throw new Error('KMS answered without the bytes asked for');
  return Buffer.from(value, 'base64');
}
