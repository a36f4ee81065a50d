// Servers that stand in for AWS: started as children of this process, on a free port, and gone with it.
import { dirname } from 'node:path';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { hasEnded, spawnBoundChild } from '../local/bound-child.ts';
import { freePort } from '../local/embedded-dynamodb.ts';

const host = '127.0.0.1';
const startTimeoutMs = 30_000;
const lookIntervalMs = 200;

export interface Emulator {
  readonly url: string;
  /** Everything it wrote. */
  output(): string;
  stop(): Promise<void>;
}

export interface EmulatorOptions {
  readonly program: string;
  readonly variablesOf: (port: number) => Readonly<Record<string, string>>;
}

/** Resolves once it answers. The project's own Node comes first on its PATH. */
export async function startEmulator({ program, variablesOf }: EmulatorOptions): Promise<Emulator> {
  const port = await freePort();
  const url = `http://${host}:${port}`;
  const path = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  const child = spawnBoundChild(program, [], { env: { ...process.env, PATH: path, ...variablesOf(port) } });
  const written: string[] = [];
  for (const pipe of [child.process.stdout, child.process.stderr]) {
    pipe?.on('data', (chunk: Buffer) => void written.push(chunk.toString('utf8')));
  }
  const output = () => written.join('');
  for (let waitedMs = 0; waitedMs < startTimeoutMs && !hasEnded(child.process); waitedMs += lookIntervalMs) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return { url, output, stop: () => child.stop() };
    await sleep(systemClock, lookIntervalMs);
  }
  await child.stop();
  throw new Error(`${program} did not start: ${output().trimEnd().split('\n').at(-1)}`);
}
