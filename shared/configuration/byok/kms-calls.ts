// Calls KMS. This module is loaded with the first call with a stored connection, from a file of its own next to the
// bundle, because few instances serve such a call. Therefore it returns values and throws no error of this project.
import {
  DecryptCommand,
  type DecryptCommandInput,
  GenerateDataKeyCommand,
  type GenerateDataKeyCommandInput,
  type GenerateDataKeyCommandOutput,
  IncorrectKeyException,
  InvalidCiphertextException,
  KMSClient,
} from '@aws-sdk/client-kms';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type AwsAccess, awsClientSettings, callWithAttempts } from '../../storage/aws-clients/index.ts';

const socketsMax = 64;
/** Bound of the answer, a wrapped key or an error. */
const answerMaxBytes = 64 * 1024;

export interface KmsCallsOptions {
  readonly access: AwsAccess;
  readonly randomness: Randomness;
}

export interface KmsCalls {
  generateDataKey(input: GenerateDataKeyCommandInput): Promise<GenerateDataKeyCommandOutput>;
  /** Returns undefined when the bytes were changed, moved, or wrapped by another key. */
  decrypt(input: DecryptCommandInput): Promise<{ readonly clear: Uint8Array | undefined } | undefined>;
}

/** Creates the calls; no request is made yet. */
export function createKmsCalls({ access, randomness }: KmsCallsOptions): KmsCalls {
  const kms = new KMSClient(awsClientSettings(access, { socketsMax, answerMaxBytes }));
  const { clock, callTimeoutMs: limitMs } = access;
  const attempts = { clock, randomness, limitMs, kind: 'repeatable' } as const;
  return {
    generateDataKey: (input) =>
      callWithAttempts(attempts, (abortSignal) => kms.send(new GenerateDataKeyCommand(input), { abortSignal })),
    decrypt: (input) =>
      callWithAttempts(attempts, async (abortSignal) => {
        try {
          return { clear: (await kms.send(new DecryptCommand(input), { abortSignal })).Plaintext };
        } catch (error) {
          if (error instanceof InvalidCiphertextException || error instanceof IncorrectKeyException) return undefined;
          throw error;
        }
      }),
  };
}
