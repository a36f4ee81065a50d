// Uses the customer's own key if the settings name it: tables, bucket, secrets and log groups are encrypted with it.
// The key's policy belongs to the customer, so no template changes it.
import { Aws, Stack } from 'aws-cdk-lib';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { encryptionKeyActions } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import type { Access } from './access.ts';

type KeySetting = Pick<StageSettings, 'encryptionKeyArn'>;

const id = 'EncryptionKey';

/** Returns undefined if AWS encrypts with keys of its own. */
export function encryptionKey(scope: Construct, { encryptionKeyArn }: KeySetting): IKey | undefined {
  if (encryptionKeyArn === undefined) return undefined;
  const stack = Stack.of(scope);
  return (stack.node.tryFindChild(id) as IKey | undefined) ?? Key.fromKeyArn(stack, id, encryptionKeyArn);
}

/** Returns the property of secrets and log groups. */
export function encryptedWith(scope: Construct, settings: KeySetting): { readonly encryptionKey?: IKey } {
  const key = encryptionKey(scope, settings);
  return key === undefined ? {} : { encryptionKey: key };
}

/**
 * Grants rights on the key. Only services that ask KMS in the name of the calling role may use the rights, and only in
 * the stage's region.
 */
export const encryptionKeyAccess = ({ encryptionKeyArn }: KeySetting): Access => {
  if (encryptionKeyArn === undefined) return { statements: [] };
  const services = ['dynamodb', 's3', 'secretsmanager'].map((name) => `${name}.${Aws.REGION}.${Aws.URL_SUFFIX}`);
  return {
    statements: [
      {
        actions: encryptionKeyActions.map((action) => `kms:${action}`),
        resources: [encryptionKeyArn],
        conditions: { StringEquals: { 'kms:ViaService': services } },
      },
    ],
  };
};
