// What a function finds in AWS beside its tables: names of a bucket, a key and a secret, and where their services
// answer. A local run, and the bundles where nothing of this is set, have none of it.
import { environmentNames } from '../constants/index.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** Each name is set or not by itself. */
export interface AwsEnvironment {
  readonly region: string;
  readonly spillBucket: string | undefined;
  readonly byokKeyId: string | undefined;
  readonly providerSecret: string | undefined;
  /** Servers in place of AWS's own, by the variables that the SDKs honour too. */
  readonly endpoints: {
    readonly kms: URL | undefined;
    readonly s3: URL | undefined;
    readonly secretsManager: URL | undefined;
  };
}

/** What a request to AWS is signed with. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present with credentials that end by themselves, as those of a role do. */
  readonly sessionToken?: string;
}

const regionName = 'AWS_REGION';
const regionShape = /^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/;
/** A bucket of ours is part of a host name, so it has no dots: a certificate covers one label. */
const bucketShape = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

/** Undefined where nothing is named. Throws with the name of the variable that is missing or malformed. */
export function readAwsEnvironment(variables: Variables): AwsEnvironment | undefined {
  const named = (name: string) => (variables[name] === '' ? undefined : variables[name]);
  const spillBucket = named(environmentNames.spillBucket);
  const byokKeyId = named(environmentNames.byokKeyId);
  const providerSecret = named(environmentNames.providerSecret);
  if ([spillBucket, byokKeyId, providerSecret].every((name) => name === undefined)) return undefined;
  const region = readRegion(variables[regionName]);
  if (spillBucket !== undefined && !bucketShape.test(spillBucket)) {
    throw new Error(`${environmentNames.spillBucket} must name a bucket without dots`);
  }
  const endpoint = (name: string) => readEndpoint(name, variables);
  return {
    region,
    spillBucket,
    byokKeyId,
    providerSecret,
    endpoints: {
      kms: endpoint('AWS_ENDPOINT_URL_KMS'),
      s3: endpoint('AWS_ENDPOINT_URL_S3'),
      secretsManager: endpoint('AWS_ENDPOINT_URL_SECRETS_MANAGER'),
    },
  };
}

/** Where DynamoDB is: a region, and a server in place of AWS's own by the variable that the SDKs honour too. */
export interface DynamoPlace {
  readonly region: string;
  readonly endpoint: URL | undefined;
}

/** `region`: in place of the one that the process is in. Throws with the name of the variable that is missing. */
export function readDynamoPlace(region: string | undefined, variables: Variables = process.env): DynamoPlace {
  return {
    region: readRegion(region ?? variables[regionName]),
    endpoint: readEndpoint('AWS_ENDPOINT_URL_DYNAMODB', variables),
  };
}

function readRegion(text = ''): string {
  if (!regionShape.test(text)) throw new Error(`${regionName} must name a region`);
  return text;
}

/** The variable of one service, or else the one for all. */
function readEndpoint(ownName: string, variables: Variables): URL | undefined {
  const name = variables[ownName] ? ownName : 'AWS_ENDPOINT_URL';
  const text = variables[name];
  if (!text) return undefined;
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error(`${name} must be an http(s) URL`);
  return url;
}

export const hasAwsCredentials = (variables: Variables = process.env): boolean =>
  Boolean(variables.AWS_ACCESS_KEY_ID && variables.AWS_SECRET_ACCESS_KEY);

/** The credentials of the process, where Lambda puts those of the function's role. Throws where there are none. */
export function readAwsCredentials(variables: Variables = process.env): AwsCredentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = variables;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
    throw new Error('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set');
  }
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
}
