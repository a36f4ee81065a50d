// Starts servers that replace AWS. The servers are child processes of this process, listen on a free port, and end with
// this process.
import { dirname } from 'node:path';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { hasEnded, spawnBoundChild } from '../local/bound-child.ts';
import { freePort } from '../local/free-port.ts';
import { pythonProgram, runTests, type VerifyStep } from './verify-step.ts';

const host = '127.0.0.1';
const startTimeoutMs = 30_000;
const lookIntervalMs = 200;

interface Emulator {
  readonly url: string;
  /** Returns everything that it wrote. */
  output(): string;
  stop(): Promise<void>;
}

interface EmulatorOptions {
  readonly program: string;
  readonly variablesOf: (port: number) => Readonly<Record<string, string>>;
}

/** Starts an emulator, and resolves once it answers. The project's own Node comes first on its PATH. */
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

// Runs the store suites on another implementation of DynamoDB than the engine of the tests. Otherwise conditions that
// only one engine accepts would be found on AWS.
export const ministackRequirement = 'ministack==1.5.33';

/** Tests that are skipped, because this engine computes with 28 digits, and DynamoDB with 38. */
const needMoreDigits = [
  'are exact to 38 digits, also after arithmetic',
  'the books of a counter balance after every write, its limit holds, and every settlement counts once',
];

export const secondEngine: VerifyStep = {
  name: 'dynamodb',
  async run() {
    const program = await pythonProgram(ministackRequirement, 'ministack');
    const variablesOf = (port: number) => ({ GATEWAY_PORT: String(port), SERVICES: 'dynamodb', LOG_LEVEL: 'ERROR' });
    const emulator = await startEmulator({ program, variablesOf });
    try {
      const tests = ['test/stores', '--testNamePattern', `^(?!.*(${needMoreDigits.join('|')}))`];
      return `${await runTests(tests, { GW_TEST_DYNAMODB_URL: emulator.url })}: the store suites on a second DynamoDB`;
    } finally {
      await emulator.stop();
    }
  },
};
