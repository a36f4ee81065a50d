// The gateway under test: the main of `npm start` in a process of its own, on a given store.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock, waitAtMost } from '../../../shared/foundation/time/index.ts';
import type { Inspection, ProcessFigures } from './inspect-process.ts';

/** For each of them: to start, to answer, and to end. So long that only a process that hangs reaches it: others may use the machine. */
const timeoutMs = 120_000;

/** `folder` is shared by gateways that share a store. */
export async function startGateway(
  configFile: string,
  storeUrl: string,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
) {
  const main = join(import.meta.dirname, '../../local/main.ts');
  // Without a line per call: a pipe is written synchronously, and this process reads it while it makes the load.
  const child = fork(main, ['--port', '0', '--config', configFile, '--dynamodb', storeUrl, '--log', 'off'], {
    cwd: folder,
    env: { ...process.env, ...environment },
    execArgv: ['--expose-gc', '--import', join(import.meta.dirname, 'inspect-process.ts')],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(child, 'exit');
  const ready = Promise.withResolvers<string>();
  let output = '';
  for (const pipe of [child.stdout, child.stderr]) {
    pipe?.on('data', (part: Buffer) => {
      // Later output is a line per call: it is read and not kept.
      output = (output + part).slice(-2_000);
      const url = /^ready (\S+)/m.exec(output)?.[1];
      if (url !== undefined) ready.resolve(url);
    });
  }
  const fail = () => {
    throw new Error(`the gateway did not start or has ended: ${output}`);
  };
  ended.then(fail).catch(ready.reject);
  const stop = async () => {
    child.kill('SIGTERM');
    await waitAtMost(systemClock, timeoutMs, ended, () => child.kill('SIGKILL'));
  };
  const inspect = async (inspection: Inspection = {}): Promise<ProcessFigures> => {
    const answer = once(child, 'message');
    child.send(inspection);
    return (await waitAtMost(systemClock, timeoutMs, answer, fail))[0];
  };
  const started = waitAtMost(systemClock, timeoutMs, ready.promise, fail);
  const url = await started.catch((error) => stop().then(() => Promise.reject(error)));
  return { name: 'gw', url, inspect, stop };
}
