// The DynamoDB of a local run: a child process that listens on no port. It is called over its standard input and output,
// which no other user of the machine and no web page can reach, and it is given no variable of this process.
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { type EngineOptions, startEngine } from './dynamodb-process.ts';
import { connectEngine, type EngineConnection } from './engine-connection.ts';
import { createEngineOperations } from './engine-operations.ts';

/** Never connected to: clients of the SDK want one. */
const endpoint = 'http://embedded.invalid';

export interface PrivateDynamo {
  /** What a client in this process is made with. */
  readonly access: { readonly endpoint: string; readonly requestHandler: DynamoDBClientConfig['requestHandler'] };
  stop(): Promise<void>;
}

/** Resolves once it answers. Throws an Error whose message is one line for the person at the terminal. */
export async function startPrivateDynamo(options: EngineOptions): Promise<PrivateDynamo> {
  const connected = Promise.withResolvers<EngineConnection>();
  const untilReady = async (...[engine]: Parameters<typeof connectEngine>) => {
    connected.resolve(await connectEngine(engine));
  };
  const { stop } = await startEngine({ ...options, args: ['mcp'], untilReady });
  return { access: { endpoint, requestHandler: requestHandlerOf(await connected.promise) }, stop };
}

interface SdkRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const utf8 = new TextDecoder();

/** Takes the requests of the SDK's client in place of a connection. */
function requestHandlerOf(engine: EngineConnection) {
  const run = createEngineOperations(engine);
  return {
    async handle(request: SdkRequest, { abortSignal }: { abortSignal?: unknown } = {}) {
      const operation = request.headers['x-amz-target']?.split('.').at(-1) ?? '';
      const input = JSON.parse(utf8.decode(request.body));
      const options = { bytes: request.body.byteLength, signal: abortSignal as AbortSignal | undefined };
      const { error, output } = await run(operation, input, options);
      const body = Buffer.from(error === undefined ? output : JSON.stringify(error));
      const headers = { 'content-type': 'application/x-amz-json-1.0' };
      return { response: { statusCode: error === undefined ? 200 : 400, headers, body } };
    },
    destroy() {},
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  };
}
