// Opens the secret of a stage with its provider credentials: a JSON object, name → credential. Only names, and whether
// a value changed, ever leave this file.
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { awsClientSettings } from '../../../shared/storage/aws-clients/index.ts';
import { providerSecretName } from '../../cdk/resource-names.ts';
import type { ShellAccess } from './shell-access.ts';

/** Maximum size of the answer. A secret is 64 KB at most, but may grow sixfold as JSON inside JSON. */
const answerMaxBytes = 512 * 1024;

export interface ProviderSecret {
  /** Reads the credentials. Throws an Error for the operator if the secret is absent or is not a JSON object. */
  read(): Promise<ReadonlyMap<string, unknown>>;
  /** Writes all credentials. The stored credentials must be read before, so that other names stay. */
  write(credentials: ReadonlyMap<string, unknown>): Promise<void>;
  close(): void;
}

export async function openProviderSecret(access: ShellAccess, stage: string): Promise<ProviderSecret> {
  const client = new SecretsManagerClient(awsClientSettings(access, { socketsMax: 1, answerMaxBytes }));
  const SecretId = providerSecretName(stage);
  return {
    async read() {
      const text = await client.send(new GetSecretValueCommand({ SecretId })).then(
        ({ SecretString }) => SecretString ?? '',
        (error: unknown) => {
          if (!(error instanceof ResourceNotFoundException)) throw error;
          throw new Error(`there is no secret ${SecretId} in this account and region: deploy the stage first`);
        },
      );
      return readObject(SecretId, text);
    },
    async write(credentialsByName) {
      const SecretString = JSON.stringify(Object.fromEntries(credentialsByName));
      await client.send(new PutSecretValueCommand({ SecretId, SecretString }));
    },
    close: () => client.destroy(),
  };
}

/** Parses an object, and hides the parser's own error, which quotes the text. */
function readObject(name: string, text: string): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return new Map(Object.entries(value));
  } catch {
    // The fault is reported below.
  }
  throw new Error(`the secret ${name} does not hold a JSON object: repair it in Secrets Manager first`);
}
