// Brings up store, tables, gateway file and server in this order, and tells how to call it. Whatever fails on the way
// takes down what was started before.
import { readFileSync } from 'node:fs';
import { createChatGateway } from '../../functions/chat-completions/routes.ts';
import { createRuntime, type Runtime } from '../../shared/composition/index.ts';
import { applyGatewayFile, type GatewayFile, readGatewayFile } from '../../shared/configuration/gateway-file/index.ts';
import { readVariable } from '../../shared/foundation/environment/index.ts';
import { createNodeServer } from '../../shared/protocol/http/index.ts';
import { createDynamoClient } from '../../shared/storage/store/index.ts';
import { createTables } from './create-tables.ts';
import { demoGatewayFile, demoKey, demoModel } from './demo/demo-file.ts';
import { startEmbeddedDynamo } from './embedded-dynamodb.ts';
import { localAdapters } from './local-adapters.ts';
import type { LocalOptions } from './options.ts';
import { startSimulator } from './simulator/index.ts';

/** Only this machine may call: the demo key is known to everybody. */
const host = '127.0.0.1';
const localStage = 'local';
const environment = { stage: localStage, originSecretHashes: [], logLevel: 'error' } as const;

export interface LocalGateway {
  readonly url: string;
  stop(): Promise<void>;
}

type Say = (line: string) => void;
type StopOne = () => Promise<void> | void;

/** Throws an Error with one line for the person at the terminal. */
export async function startLocalGateway(options: LocalOptions, say: Say): Promise<LocalGateway> {
  const started: StopOne[] = [];
  const stop = async () => {
    for (const stopOne of started.splice(0).reverse()) await stopOne();
  };
  try {
    const file = await readFile(options, started);
    const dynamodbUrl = options.dynamodb ?? (await startDynamo(options, say, started));
    const runtime = createRuntime({ environment, dynamodbUrl, ...localAdapters(options) });
    started.push(() => runtime.transport.close());
    const createdKeys = await prepareStore(dynamodbUrl, runtime, file);
    const server = createNodeServer(createChatGateway(runtime), runtime);
    const port = await listen(server, options.port);
    started.push(() => server.close());
    const url = `http://${host}:${port}/v1`;
    say(`ready ${url}`);
    sayHowToCall(say, url, options, file, createdKeys);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readFile({ config }: LocalOptions, started: StopOne[]): Promise<GatewayFile> {
  if (config !== undefined) return check(config, readText(config));
  const simulator = await startSimulator();
  started.push(() => simulator.stop());
  return check('the demo file', demoGatewayFile(simulator.urlOf, process.env));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Error(`cannot read the gateway file ${path}`);
  }
}

/** More would not be read on one line. */
const problemsShownMax = 20;

function check(name: string, text: string): GatewayFile {
  const result = readGatewayFile(text);
  if (result.ok) return result.file;
  const shown = result.problems.slice(0, problemsShownMax).map(({ path, message }) => `${path}: ${message}`);
  const more = result.problems.length - shown.length;
  throw new Error(`${name} is not valid: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`);
}

async function startDynamo({ data }: LocalOptions, say: Say, started: StopOne[]): Promise<string> {
  const dynamo = await startEmbeddedDynamo({ dataDir: data, log: say });
  started.push(() => dynamo.stop());
  return dynamo.endpoint;
}

async function prepareStore(dynamodbUrl: string, runtime: Runtime, file: GatewayFile) {
  const client = createDynamoClient({ endpoint: dynamodbUrl });
  try {
    await createTables(client, localStage);
  } catch (error) {
    throw new Error(`no DynamoDB answers at ${dynamodbUrl}`, { cause: error });
  } finally {
    client.destroy();
  }
  const { randomness, clock } = runtime;
  return applyGatewayFile({ file, stores: runtime, readVariable, randomness, nowMs: clock.nowMs() });
}

async function listen(server: ReturnType<typeof createNodeServer>, port: number): Promise<number> {
  try {
    return await server.listen(port, host);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    throw isTaken ? new Error(`port ${port} is in use; choose another with --port`) : error;
  }
}

function sayHowToCall(
  say: Say,
  url: string,
  { config }: LocalOptions,
  file: GatewayFile,
  { createdKeys, notes }: Awaited<ReturnType<typeof prepareStore>>,
): void {
  for (const line of notes) say(`note: ${line}`);
  for (const { workspace, name, key } of createdKeys) say(`key ${name} of ${workspace} (shown once): ${key}`);
  if (config === undefined) say(`demo key: ${demoKey}`);
  const key = config === undefined ? demoKey : (createdKeys[0]?.key ?? '$GW_API_KEY');
  const model = config === undefined ? demoModel : (file.models[0]?.id ?? 'auto');
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  say(
    `curl ${url}/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`,
  );
}
