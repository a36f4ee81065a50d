// A DynamoDB that several processes of one test or one measurement share. It listens on a port of this machine, where it
// asks no caller for a credential, so nothing that matters may be in it: a gateway keeps its own store in private-dynamodb.ts.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type EngineOptions, startEngine } from './dynamodb-process.ts';

const host = '127.0.0.1';
/** A free port may be taken by another process before the server has it. */
const portsTriedMax = 5;

export interface EmbeddedDynamo {
  readonly endpoint: string;
  stop(): Promise<void>;
}

interface SharedEngineOptions extends EngineOptions {
  /** JSON file with descriptions of tables, as DescribeTable answers them: it makes them at its start. */
  readonly tablesFile?: string;
}

/** Resolves once it takes connections. Throws an Error whose message is one line for the person at the terminal. */
export async function startEmbeddedDynamo({ tablesFile, ...options }: SharedEngineOptions): Promise<EmbeddedDynamo> {
  const tables = tablesFile === undefined ? [] : ['--schema', tablesFile];
  for (let tried = 1; ; tried += 1) {
    const port = await freePort();
    const args = ['serve', '--host', host, '--port', String(port), ...tables];
    try {
      const { stop } = await startEngine({ ...options, args, untilReady: untilListening });
      return { endpoint: `http://${host}:${port}`, stop };
    } catch (error) {
      if (tried === portsTriedMax || !(error as Error).message.includes('already in use')) throw error;
    }
  }
}

/** Its message counts and not a connection: another process may have taken the port. */
const untilListening = ({ stderr }: ChildProcess) =>
  new Promise<void>((resolve) => {
    let messages = '';
    stderr?.on('data', (part: Buffer) => {
      messages += part.toString();
      if (messages.includes('listening on')) resolve();
    });
  });

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, host);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
