// The SDK's document client, set up for the many small conditional writes of requests.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type AwsAccess, awsAccess, awsClientSettings, clientSigner } from '../aws-clients/index.ts';

/**
 * Maximum sockets to DynamoDB. A Lambda environment uses a few; a local run or a container needs one per running
 * request.
 */
const socketsMax = 256;
/**
 * Bound of an answer. A page has 1 MB by DynamoDB's count; the type tags of small attributes and base64 multiply that.
 */
const answerMaxBytes = 16 * 1024 * 1024;
/**
 * Access to servers outside AWS: they check no credentials, but DynamoDB Local has separate tables per access key and
 * region.
 */
const accessOutsideAws = {
  region: 'us-east-1',
  credentials: async () => ({ accessKeyId: 'local', secretAccessKey: 'local' }),
};

/**
 * Middleware that costs time in every command: a log that is off, a list of features in the user agent, an X-Ray
 * header.
 */
const notNeeded = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware'];

/** A client that sends each command once. */
export type DynamoClient = Pick<DynamoDBDocumentClient, 'send' | 'destroy'>;

interface DynamoClientOptions extends Partial<AwsAccess> {
  /**
   * URL of a DynamoDB-compatible server outside AWS. Default: the URL that the variables of the process name, or AWS.
   */
  readonly endpoint?: string | undefined;
}

/** Creates the client; no request is made yet. Throws where neither the options nor the process name a region. */
export function createDynamoClient(clientOptions: DynamoClientOptions = {}): DynamoClient {
  const { endpoint, ...options } = clientOptions;
  const access = awsAccess(endpoint === undefined ? options : { ...options, ...accessOutsideAws });
  const client = new DynamoDBClient({
    ...awsClientSettings(access, { socketsMax, answerMaxBytes }),
    ...(endpoint === undefined ? {} : { endpoint }),
    accountIdEndpointMode: 'disabled',
    endpointDiscoveryEnabled: false,
    signer: clientSigner('dynamodb', access),
  });
  for (const middleware of notNeeded) client.middlewareStack.remove(middleware);
  // The retry middleware is replaced, not removed, because others are ordered relative to it: its one attempt would
  // cost a UUID and an error with its stack.
  client.middlewareStack.add((next) => next, {
    name: 'retryMiddleware',
    step: 'finalizeRequest',
    priority: 'high',
    override: true,
  });
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return { send: documents.send.bind(documents), destroy: () => client.destroy() };
}
