// Creates the SDK's clients of DynamoDB for many small conditional writes on the path of a request. The plain client
// sends commands whose values are DynamoDB's attribute values; it caches its middleware, and reads and writes JSON
// without conversion. The document client converts values and makes its middleware again for each command, so only
// operators' calls use it.
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  type AwsAccess,
  awsAccess,
  awsClientSettings,
  clientSigner,
  endpointOnce,
  plainJsonProtocol,
} from '../aws-clients/index.ts';

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
 * Middleware that is removed, because it costs time in every command: a log that is off, a list of features in the user
 * agent, an X-Ray header.
 */
const notNeeded = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware'];

/** Operations whose answers contain only items, texts and numbers. Answers of other operations contain times. */
const itemOperations = ['GetItem', 'PutItem', 'UpdateItem', 'BatchWriteItem', 'BatchExecuteStatement'];

/** A client that sends each command once. */
export type DynamoClient = Pick<DynamoDBDocumentClient, 'send' | 'destroy'>;

interface DynamoClientOptions extends Partial<AwsAccess> {
  /**
   * URL of a DynamoDB-compatible server outside AWS. Default: the URL that the variables of the process name, or AWS.
   */
  readonly endpoint?: string | undefined;
}

/** Creates the client; no request is made yet. Throws if neither the options nor the process name a region. */
export function createDynamoClient(clientOptions: DynamoClientOptions = {}): DynamoClient {
  const { endpoint, ...options } = clientOptions;
  const access = awsAccess(endpoint === undefined ? options : { ...options, ...accessOutsideAws });
  const settings = {
    ...awsClientSettings(access, { socketsMax, answerMaxBytes }),
    ...(endpoint === undefined ? {} : { endpoint }),
    accountIdEndpointMode: 'disabled',
    endpointDiscoveryEnabled: false,
    signer: clientSigner('dynamodb', access),
  } as const;
  const protocol = plainJsonProtocol(itemOperations);
  const plain = prepared(new DynamoDBClient({ ...settings, cacheMiddleware: true, protocol }));
  let documents: DynamoDBDocumentClient | undefined;
  const documentClient = () => {
    documents ??= DynamoDBDocumentClient.from(prepared(new DynamoDBClient(settings)), {
      marshallOptions: { removeUndefinedValues: true },
    });
    return documents;
  };

  // This middleware decides again for each request how it is signed, and for which identity.
  plain.middlewareStack.remove('httpAuthSchemeMiddleware');
  const signing = (next: (sending: Sending) => Promise<unknown>) => async (sending: Sending) => {
    const signingDate = new Date(access.clock.nowMs());
    return next({ ...sending, request: await settings.signer.sign(sending.request, { signingDate }) });
  };
  plain.middlewareStack.addRelativeTo(signing as never, {
    name: 'httpSigningMiddleware',
    relation: 'after',
    toMiddleware: 'retryMiddleware',
    override: true,
  });
  plain.middlewareStack = withOneEndpoint(plain);
  // A client that caches its middleware does not pass on the options of a call, so signals are found by the input.
  const signals = new WeakMap<object, AbortSignal>();
  plain.middlewareStack.add(
    () =>
      ({ request, input }) => {
        const abortSignal = signals.get(input);
        return settings.requestHandler.handle(request as never, abortSignal && { abortSignal }) as never;
      },
    { name: 'requestWithSignal', step: 'deserialize', priority: 'low' },
  );
  const send = (command: object, options?: { readonly abortSignal?: AbortSignal }) => {
    if (isDocumentCommand(command)) return documentClient().send(command as never, options as never);
    const { input } = command as { readonly input: object };
    if (options?.abortSignal !== undefined) signals.set(input, options.abortSignal);
    return plain.send(command as never);
  };
  return { send: send as DynamoClient['send'], destroy: () => settings.requestHandler.destroy() };
}

/**
 * Returns the client's middleware with `endpointOnce` in place of the SDK's endpoint middleware, which each command
 * adds.
 */
function withOneEndpoint({ middlewareStack: stack, config }: DynamoDBClient): DynamoDBClient['middlewareStack'] {
  return {
    ...stack,
    concat(commandStack) {
      const whole = stack.concat(commandStack);
      whole.addRelativeTo(endpointOnce(config, GetItemCommand) as never, {
        name: 'endpointV2Middleware',
        relation: 'before',
        toMiddleware: 'serializerMiddleware',
        override: true,
      });
      return whole;
    },
  };
}

/** Arguments of a step of the SDK's middleware. */
interface Sending {
  readonly request: Parameters<ReturnType<typeof clientSigner>['sign']>[0];
}

const isDocumentCommand = (command: object): boolean => 'clientCommand' in command;

function prepared(client: DynamoDBClient): DynamoDBClient {
  for (const middleware of notNeeded) client.middlewareStack.remove(middleware);
  // The retry middleware is replaced, not removed, because the position of other middleware is relative to it. The
  // SDK's single attempt would cost a UUID and an error with its stack.
  client.middlewareStack.add((next) => next, {
    name: 'retryMiddleware',
    step: 'finalizeRequest',
    priority: 'high',
    override: true,
  });
  return client;
}
