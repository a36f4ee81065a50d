// One execution environment: the runtime client with a bundle, as a child process that asks the Runtime API for events.
import { join, resolve } from 'node:path';
import { hasEnded, spawnBoundChild } from '../../local/bound-child.ts';
import { lambdaEnvironment } from '../../local/lambda-env.ts';
import { type RuntimeApi, startRuntimeApi } from './runtime-api.ts';

const dist = resolve(import.meta.dirname, '../../../dist');

export interface RunningFunction extends Pick<RuntimeApi, 'invoke'> {
  /** Whether the process that took the first event still takes them. */
  isAlive(): boolean;
  /** What it wrote, its log lines among it. */
  output(): string;
  stop(): Promise<void>;
}

export interface FunctionOptions {
  /** Folder of the bundle in dist. */
  readonly name: string;
  /** Main file of the runtime client. */
  readonly client: string;
  readonly stage: string;
  readonly dynamodbUrl: string;
  /** More variables of its environment. */
  readonly variables: Readonly<Record<string, string>>;
}

export async function startFunction({
  name,
  client,
  stage,
  dynamodbUrl,
  variables,
}: FunctionOptions): Promise<RunningFunction> {
  const api = await startRuntimeApi();
  const environment = {
    ...lambdaEnvironment({ stage, dynamodbUrl }),
    AWS_LAMBDA_RUNTIME_API: api.address,
    _HANDLER: 'index.handler',
    LAMBDA_TASK_ROOT: join(dist, name),
    AWS_LAMBDA_FUNCTION_NAME: `gw-test-${name}`,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
    AWS_LAMBDA_LOG_GROUP_NAME: 'gw-test',
    AWS_LAMBDA_LOG_STREAM_NAME: 'gw-test',
    ...variables,
  };
  const settings = Object.entries(environment).map(([variable, value]) => `${variable}=${value}`);
  // Nothing else of this terminal's environment: Lambda would not have it either.
  const child = spawnBoundChild('/usr/bin/env', ['-i', ...settings, process.execPath, client, 'index.handler']);
  const written: string[] = [];
  for (const pipe of [child.process.stdout, child.process.stderr]) {
    pipe?.on('data', (chunk: Buffer) => void written.push(chunk.toString('utf8')));
  }
  return {
    invoke: (event) => api.invoke(event),
    isAlive: () => !hasEnded(child.process),
    output: () => written.join(''),
    async stop() {
      await child.stop();
      await api.stop();
    },
  };
}
