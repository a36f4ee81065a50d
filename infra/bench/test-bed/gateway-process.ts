// Starts the gateway under test, which is the main file of `npm start` in a process of its own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock, waitAtMost } from '../../../shared/foundation/time/index.ts';
import type { Inspection, ProcessFigures } from './inspect-process.ts';

/**
 * Time limit of each step (start, answer, end). The limit is long because other processes may use the machine, so that
 * only a process that hangs exceeds it.
 */
const timeoutMs = 120_000;
/** Maximum length of the output that is shown for a gateway that did not start. */
const outputShownMax = 2_000;

interface GatewayStart {
  /** Folder of the gateway's sources; this checkout if absent. */
  readonly tree?: string;
  readonly name?: string;
  readonly configFile: string;
  /** URL of the store. If absent, the gateway has a store of its own, in memory. */
  readonly storeUrl?: string;
  /** Folder that gateways on one store share. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
}

const thisTree = join(import.meta.dirname, '../../..');
const lookIntervalMs = 20;

export type GatewayProcess = Awaited<ReturnType<typeof startGateway>>;

export async function startGateway(start: GatewayStart) {
  const { tree = thisTree, name = 'gw', configFile, storeUrl, folder, environment = {}, nodeOptions = [] } = start;
  // The log lines of a deployed stage go into a file. If they went into a pipe, this process would have to read them
  // while it makes the load.
  const outputFile = join(folder, `${name.replace(/\W+/g, '-')}-${performance.now()}.log`);
  const output = openSync(outputFile, 'w');
  const store = storeUrl === undefined ? [] : ['--dynamodb', storeUrl];
  const args = ['--port', '0', '--config', configFile, '--log', 'json', ...store];
  const child = fork(join(tree, 'infra/local/main.ts'), args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    execArgv: [...nodeOptions, '--expose-gc', '--import', join(import.meta.dirname, 'inspect-process.ts')],
    stdio: ['ignore', output, output, 'ipc'],
  });
  const ended = once(child, 'exit');
  const fail = () => {
    const output = readFileSync(outputFile, 'utf8').slice(-outputShownMax);
    throw new Error(`the gateway did not start or has ended: ${output}`);
  };
  const hasEnded = ended.then(fail);
  hasEnded.catch(() => {});
  const untilReady = async (): Promise<string> => {
    for (;;) {
      const url = /^ready (\S+)/m.exec(readFileSync(outputFile, 'utf8'))?.[1];
      if (url !== undefined) return url;
      await Promise.race([sleep(systemClock, lookIntervalMs), hasEnded]);
    }
  };
  const stop = async () => {
    child.kill('SIGTERM');
    await waitAtMost(systemClock, timeoutMs, ended, () => child.kill('SIGKILL'));
  };
  const inspect = async (inspection: Inspection = {}): Promise<ProcessFigures> => {
    const answer = once(child, 'message');
    child.send(inspection);
    return (await waitAtMost(systemClock, timeoutMs, answer, fail))[0];
  };
  const started = waitAtMost(systemClock, timeoutMs, untilReady(), fail);
  const url = await started.catch((error) => stop().then(() => Promise.reject(error)));
  return { name, url, pid: child.pid ?? NaN, outputFile, inspect, stop };
}
