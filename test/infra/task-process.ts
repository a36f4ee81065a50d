// The process of a task of `compute: 'container'`: the bundle of its image, with the command and the environment of the
// template. There is no container around it: only the heap of that command limits its memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { headerNames } from '../../shared/foundation/constants/index.ts';

/** A container definition of the template. */
export interface TaskContainer {
  readonly Command: readonly string[];
  readonly Environment: readonly { readonly Name: string; readonly Value: unknown }[];
}

/** Returns the container of the api stack of a stage with tasks. */
export function taskContainerOf(template: Readonly<Record<string, unknown>>): TaskContainer {
  interface Resource {
    readonly Type: string;
    readonly Properties: { readonly ContainerDefinitions: readonly TaskContainer[] };
  }
  const resources = Object.values(template.Resources as Record<string, Resource>);
  const task = resources.find(({ Type }) => Type === 'AWS::ECS::TaskDefinition');
  const [container] = task?.Properties.ContainerDefinitions ?? [];
  if (container === undefined) throw new Error('the stage has no tasks');
  return container;
}

export interface TaskStart {
  readonly container: TaskContainer;
  /** The folder of the bundle. */
  readonly folder: string;
  readonly storeUrl: string;
  /** The stage whose tables are in the store. */
  readonly stage: string;
}

const originSecret = 'secretOfThisMachine'.repeat(2);

export async function startTask({ container, folder, storeUrl, stage }: TaskStart) {
  // A server for AWS except the store: it returns the accepted origins, and denies every other call.
  const elsewhere = createServer(async (request, response) => {
    const isOrigin = (await text(request)).includes(`"SecretId":"gw/prod/origin"`);
    if (isOrigin) response.end(JSON.stringify({ SecretString: originSecret }));
    else response.writeHead(400).end('{"__type":"AccessDenied"}');
  });
  await once(elsewhere.listen(0, '127.0.0.1'), 'listening');
  const { port } = elsewhere.address() as AddressInfo;
  const fromTemplate = container.Environment.map(({ Name, Value }) => [Name, typeof Value === 'string' ? Value : 'x']);
  const child = spawn(process.execPath, container.Command, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      ...Object.fromEntries(fromTemplate),
      // The template takes these values from the account.
      GW_SPILL_BUCKET: `gw-${stage}-spill`,
      AWS_REGION: 'eu-west-1',
      // These values replace AWS and a fixed port on this machine.
      ...{ GW_STAGE: stage, GW_PORT: '0', GW_METRICS_PORT: '0', AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` },
      ...{ AWS_ENDPOINT_URL_DYNAMODB: storeUrl, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Record<string, unknown>[] = [];
  const listening = Promise.withResolvers<number>();
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = JSON.parse(part) as Record<string, unknown>;
      lines.push(line);
      if (line.event === 'listening') listening.resolve(Number(line.port));
    }
  });
  const ended = once(child, 'close').finally(() => elsewhere.close());
  void ended.then(() => listening.reject(new Error(`the task did not start: ${JSON.stringify(lines)}`)));
  const origin = `http://127.0.0.1:${await listening.promise}`;
  const metricsPort = lines.find(({ event }) => event === 'metrics_listening')?.port;
  return {
    name: 'task',
    origin,
    metricsOrigin: `http://127.0.0.1:${metricsPort}`,
    url: `${origin}/v1`,
    /** The header of requests that come through the edge. */
    headers: { [headerNames.originSecret]: originSecret },
    pid: child.pid ?? NaN,
    /** The lines that it has logged so far. */
    lines,
    /** Stops it as ECS does. Resolves with its exit code once it has ended. */
    async stop(): Promise<number> {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
    /** Ends the process at once, for a test that ends early. */
    kill: () => child.kill('SIGKILL'),
  };
}
export type Task = Awaited<ReturnType<typeof startTask>>;
