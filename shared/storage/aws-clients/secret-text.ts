// Reads the text of one secret of AWS Secrets Manager.
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { AwsAccess } from './aws-access.ts';
import { awsClientSettings } from './client-settings.ts';

const socketsMax = 2;
/** Bound of the answer. A secret has 64 KB at most, and JSON escapes may make it six times as long. */
const answerMaxBytes = 512 * 1024;

/**
 * Returns a function that reads the secret with one try, because the function's caller repeats the call. `secretId` is
 * the name or ARN.
 */
export function secretText(access: AwsAccess, secretId: string): () => Promise<string> {
  const client = new SecretsManagerClient(awsClientSettings(access, { socketsMax, answerMaxBytes }));
  return async () => {
    const abort = new AbortController();
    const cancel = access.clock.after(access.callTimeoutMs, () => abort.abort());
    try {
      const read = new GetSecretValueCommand({ SecretId: secretId });
      const { SecretString = '' } = await client.send(read, { abortSignal: abort.signal });
      return SecretString;
    } finally {
      cancel();
    }
  };
}
