// The SDK client of the store, with limits that fit a request's path: the SDK's own would let one call wait for minutes.
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** A connection inside a region takes about 5 ms; a lost packet must not use up the 800 ms of a call. */
const connectionTimeoutMs = 300;
/** Sockets to DynamoDB. A Lambda environment uses a few; a local run or a Web Function needs one per running request. */
const storeSocketsMax = 256;
/** Servers outside AWS check no credentials, but DynamoDB Local keeps separate data per access key: one for all of us. */
const credentialsOutsideAws = { accessKeyId: 'local', secretAccessKey: 'local' };
const regionOutsideAws = 'us-east-1';

/**
 * The SDK walks through input and output of every call for its logger, even for one that drops them: a fifth of a
 * call's processor time. This one asks for nothing but warnings.
 */
const warningsOnly = { trace: () => {}, debug: () => {}, warn: () => {}, error: () => {} } as unknown as NonNullable<
  DynamoDBClientConfig['logger']
>;

export interface DynamoClientOptions {
  /** URL of a DynamoDB-compatible server outside AWS. Without it: DynamoDB itself, with the credentials of the process. */
  readonly endpoint?: string | undefined;
  /** Default: the region of the process. */
  readonly region?: string | undefined;
}

/** Every try is one request: `attempts.ts` decides on another one. */
export function createDynamoClient({ endpoint, region }: DynamoClientOptions = {}): DynamoDBClient {
  const agent = { keepAlive: true, maxSockets: storeSocketsMax };
  return new DynamoDBClient({
    ...(endpoint === undefined ? {} : { endpoint, region: regionOutsideAws, credentials: credentialsOutsideAws }),
    ...(region === undefined ? {} : { region }),
    maxAttempts: 1,
    logger: warningsOnly,
    requestHandler: { connectionTimeout: connectionTimeoutMs, httpAgent: agent, httpsAgent: agent },
  });
}
