// The text of one secret of AWS Secrets Manager.
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { AwsAccess } from './aws-access.ts';
import { awsClientSettings } from './client-settings.ts';

const socketsMax = 2;
/** A secret is 64 KB at most; written as JSON it may grow sixfold. */
const answerMaxBytes = 512 * 1024;

/** `secretId`: name or ARN. One try: the caller asks again. */
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
