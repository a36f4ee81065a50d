// The gateway as a client meets it: real HTTP, real stages, the embedded DynamoDB, the provider simulator.
import { createChatGateway } from '../../functions/chat-completions/routes.ts';
import { localAdapters } from '../../infra/local/local-adapters.ts';
import { type Simulator, startSimulator } from '../../infra/local/simulator/index.ts';
import { createRuntime, type Runtime } from '../../shared/composition/index.ts';
import { applyGatewayFile, readGatewayFile } from '../../shared/configuration/gateway-file/index.ts';
import { readVariable } from '../../shared/foundation/environment/index.ts';
import { createLog } from '../../shared/foundation/log/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import { startTestStore, type TestStore } from './dynamodb.ts';
import { type FileParts, gatewayFileText, newKey } from './gateway-file.ts';

export interface HarnessOptions extends FileParts {
  /** Time of the gateway. Default: the system's. */
  readonly clock?: Clock;
  /** Replaces parts of the real runtime. */
  readonly runtime?: Partial<Runtime>;
}

export interface Harness {
  /** Base URL, ends in /v1. */
  readonly url: string;
  readonly key: string;
  readonly simulator: Simulator;
  readonly runtime: Runtime;
  readonly testStore: TestStore;
  /** Every line the gateway logged. */
  readonly logLines: readonly string[];
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Applies another gateway file. */
  apply(parts: FileParts): Promise<void>;
  stop(): Promise<void>;
}

export async function startHarness({ clock, runtime: replaced, ...parts }: HarnessOptions): Promise<Harness> {
  const [testStore, simulator] = await Promise.all([startTestStore(), startSimulator({ paceMs: 0 })]);
  const environment = { stage: testStore.stage, originSecretHashes: [], logLevel: 'info' } as const;
  const adapters = localAdapters({ data: undefined, dynamodb: undefined });
  const real = createRuntime({ environment, clock, store: testStore.store, ...adapters });
  const logLines: string[] = [];
  const log = createLog({ clock: real.clock, write: (line) => logLines.push(line) });
  const runtime: Runtime = { ...real, log, ...replaced };
  const key = newKey();
  const apply = (file: FileParts) => applyText(runtime, gatewayFileText(file, simulator.urlOf, key));
  await apply(parts);
  const server = createNodeServer(createChatGateway(runtime), runtime);
  const port = await server.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${port}/v1`;
  const authorization = `Bearer ${key}`;
  return {
    url,
    key,
    simulator,
    runtime,
    testStore,
    logLines,
    post: (body, headers = {}) =>
      fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path, headers = {}) => fetch(`${url}${path}`, { headers: { authorization, ...headers } }),
    apply,
    async stop() {
      // First the providers: a call whose client left reads on until they end.
      await simulator.stop();
      await server.close();
      runtime.transport.close();
      await testStore.stop();
    },
  };
}

async function applyText(runtime: Runtime, text: string): Promise<void> {
  const result = readGatewayFile(text);
  if (!result.ok) throw new Error(`the gateway file of the test is not valid: ${JSON.stringify(result.problems)}`);
  const { randomness, clock } = runtime;
  await applyGatewayFile({ file: result.file, stores: runtime, readVariable, randomness, nowMs: clock.nowMs() });
}

/** The data lines of an event stream, the end marker included. */
export const dataLines = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));

/** A request that any model can serve. */
export const hello = (model: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
});
