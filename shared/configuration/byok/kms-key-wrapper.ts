// Wraps data keys with the master key in KMS. The master key never leaves the service, every use of it is in
// CloudTrail, and the place of a data key is authenticated as its encryption context.
import { once } from '../../foundation/cache/index.ts';
import { SealBroken } from './aes-gcm.ts';
import type { DataKey, KeyWrapper } from './key-wrapper.ts';
import type { KmsCalls, KmsCallsOptions } from './kms-calls.ts';

const dataKeyBytes = 32;
/** Bound of a wrapped key; KMS refuses longer keys like any malformed request. */
const wrappedMaxBytes = 6144;

interface KmsKeyWrapperOptions extends KmsCallsOptions {
  readonly keyId: string;
}

/**
 * Creates the wrapper, without a request and without a client, because few instances serve a call with a stored
 * connection.
 */
export function kmsKeyWrapper({ keyId, ...options }: KmsKeyWrapperOptions): KeyWrapper {
  const kms = once(async (): Promise<KmsCalls> => (await import('./kms-calls.ts')).createKmsCalls(options));
  return {
    isShared: true,
    async createDataKey(context): Promise<DataKey> {
      const input = { KeyId: keyId, KeySpec: 'AES_256', EncryptionContext: { ...context } } as const;
      const { Plaintext, CiphertextBlob, KeyId } = await (await kms()).generateDataKey(input);
      // KMS answers with the ARN, also if an alias was requested.
      return { clear: readDataKey(Plaintext), wrapped: readBytes(CiphertextBlob), wrappedBy: KeyId };
    },
    async unwrap(wrapped, context) {
      if (wrapped.byteLength === 0 || wrapped.byteLength > wrappedMaxBytes) throw new SealBroken();
      // The key is named, so that bytes which another key of the account wrapped are refused.
      const input = { KeyId: keyId, CiphertextBlob: wrapped, EncryptionContext: { ...context } };
      const opened = await (await kms()).decrypt(input);
      if (opened === undefined) throw new SealBroken();
      return readDataKey(opened.clear);
    },
  };
}

function readDataKey(bytes: Uint8Array | undefined): Buffer {
  const key = readBytes(bytes);
  if (key.byteLength !== dataKeyBytes) throw new Error('KMS answered with no key of 256 bits');
  return key;
}

/**
 * Returns a buffer on the same memory, because a copy of a clear key would not be overwritten together with the key.
 */
function readBytes(bytes: Uint8Array | undefined): Buffer {
  if (bytes === undefined || bytes.byteLength === 0) throw new Error('KMS answered without the bytes of a key');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
