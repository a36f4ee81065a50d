// Reads the names of a function's AWS resources other than tables: a bucket, a key and a secret. A local run, and a
// bundle without these variables, has none. Endpoints and credentials are read by the SDK.
import { environmentNames } from '../constants/index.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** Names of AWS resources; each may be absent. */
export interface AwsEnvironment {
  readonly region: string;
  readonly spillBucket: string | undefined;
  /** True for servers in place of AWS, which rarely have a host name for each bucket. */
  readonly isBucketInPath: boolean;
  readonly byokKeyId: string | undefined;
  readonly providerSecret: string | undefined;
}

const regionName = 'AWS_REGION';
const regionShape = /^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/;
/**
 * Pattern of the gateway's bucket names. The name is part of a host name, so it has no dots, because a certificate
 * covers one label.
 */
const bucketShape = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

/** Returns undefined if no resource is named. Throws with the name of the variable that is missing or malformed. */
export function readAwsEnvironment(variables: Variables): AwsEnvironment | undefined {
  const nonEmpty = (name: string) => (variables[name] === '' ? undefined : variables[name]);
  const spillBucket = nonEmpty(environmentNames.spillBucket);
  const byokKeyId = nonEmpty(environmentNames.byokKeyId);
  const providerSecret = nonEmpty(environmentNames.providerSecret);
  if ([spillBucket, byokKeyId, providerSecret].every((name) => name === undefined)) return undefined;
  if (spillBucket !== undefined && !bucketShape.test(spillBucket)) {
    throw new Error(`${environmentNames.spillBucket} must name a bucket without dots`);
  }
  const isBucketInPath = Boolean(variables.AWS_ENDPOINT_URL_S3 || variables.AWS_ENDPOINT_URL);
  return { region: readRegion(variables), spillBucket, isBucketInPath, byokKeyId, providerSecret };
}

/** Returns the region. Throws if the process has none. */
export function readRegion(variables: Variables = process.env): string {
  const region = variables[regionName] ?? '';
  if (!regionShape.test(region)) throw new Error(`${regionName} must name a region`);
  return region;
}

/** Variables from which the SDK reads credentials: for a role, a profile, a container, a web identity. */
const credentialNames = [
  ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
  ['AWS_PROFILE'],
  ['AWS_CONTAINER_CREDENTIALS_FULL_URI'],
  ['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'],
  ['AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_ROLE_ARN'],
] as const;

/** True if the process names credentials. No service is asked whether they are valid. */
export const hasAwsCredentials = (variables: Variables = process.env): boolean =>
  credentialNames.some((names) => names.every((name) => Boolean(variables[name])));
