// The parent's half of a bench process. A child ends with its channel to us, so none is left behind however we end.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock, within } from '../../../shared/foundation/time/index.ts';
import type { CpuAnswer, MemoryAnswer, Question, Ready } from './child-side.ts';

const startTimeoutMs = 20_000;
const answerTimeoutMs = 10_000;
const endTimeoutMs = 5_000;

export interface BenchProcess extends Ready {
  cpuMs(): Promise<number>;
  memory(): Promise<MemoryAnswer>;
  stop(): Promise<void>;
}

/** `script` is a file of this folder. Rejects when it is not ready in time or ends before. */
export async function startChild(script: string, args: readonly string[] = []): Promise<BenchProcess> {
  const child = fork(join(import.meta.dirname, script), args, {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { url } = await nextMessage<Ready>(child, startTimeoutMs, `${script} did not start`);
  const ask = <Answer>(question: Question): Promise<Answer> => {
    const answer = nextMessage<Answer>(child, answerTimeoutMs, `${script} does not answer`);
    child.send(question);
    return answer;
  };
  return {
    url,
    cpuMs: async () => (await ask<CpuAnswer>('cpu')).cpuMs,
    memory: () => ask<MemoryAnswer>('memory'),
    stop: () => endChild(child),
  };
}

/** Asked to end; made to where it does not. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await within(systemClock, endTimeoutMs, ended, () => new Error('it does not end')).catch(() => child.kill('SIGKILL'));
}

async function nextMessage<Message>(child: ChildProcess, limitMs: number, complaint: string): Promise<Message> {
  const stop = new AbortController();
  const message = once(child, 'message', { signal: stop.signal }).then(([first]) => first as Message);
  const ended = once(child, 'exit', { signal: stop.signal }).then(() => {
    throw new Error(`${complaint}: it has ended`);
  });
  try {
    return await within(systemClock, limitMs, Promise.race([message, ended]), () => new Error(complaint));
  } finally {
    stop.abort();
    await Promise.allSettled([message, ended]);
  }
}
