// Builds the names of a stage's resources, and lists further constants about them. Does not import the CDK library, so
// that the command line and the scripts load fast.
import { brand } from '../../shared/foundation/constants/index.ts';

export const dataStackName = (stage: string): string => `${brand}-${stage}-data`;
export const apiStackName = (stage: string): string => `${brand}-${stage}-api`;

/** Returns the tags of every resource of a stage that accepts tags. */
export const stageTags = (stage: string) => ({ application: brand, stage });

/** Qualifier of a bootstrapped region, unless another qualifier was chosen. */
export const usualQualifier = 'hnb659fds';

/** Cell of a stage whose settings name none. */
export const defaultCell = '00';

/** Output of the api stack. */
export const commitOutput = 'DeployedCommit';
export const computeOutput = 'Compute';
export const tableSuffixOutput = 'TableSuffix';

/**
 * Returns the name of the stage's secret of provider credentials. The secret is a JSON object whose member names are
 * the names of credentials in the gateway file.
 */
export const providerSecretName = (stage: string): string => `${brand}/${stage}/providers`;

/** Rights on the encryption key of a table, bucket or secret, which each caller needs. */
export const encryptionKeyActions = [
  ...['Decrypt', 'DescribeKey', 'Encrypt', 'ReEncryptFrom', 'ReEncryptTo'],
  ...['GenerateDataKey', 'GenerateDataKeyWithoutPlaintext'],
] as const;

/**
 * Returns the name of the secret of a stage with a distribution. The secret contains the origin secrets that its
 * functions accept, comma-separated.
 */
export const originSecretName = (stage: string): string => `${brand}/${stage}/origin`;

/** Returns the alias of the key with which the command line encrypts. Functions get the key's ARN. */
export const connectionKeyAlias = (stage: string): string => `alias/${brand}-${stage}-connections`;

/** Returns the bucket's name. All accounts of a partition share bucket names, so it contains account and region. */
export const spillBucketName = (stage: string, account: string, region: string): string =>
  `${brand}-${stage}-spill-${account}-${region}`;
