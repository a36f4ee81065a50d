// `npm run bench`: measures this checkout on this machine, offline but for --portkey, and says what it found: a table on
// standard output, everything else as JSON in a file.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { type BenchOptions, readOptions, usage } from './options.ts';
import { resultsText } from './print-results.ts';
import { runBench } from './run-bench.ts';

/** A run takes some three minutes. One that takes longer than this hangs. */
const runTimeoutMs = 600_000;

async function main(options: BenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-bench-'));
  const stopTimer = systemClock.after(runTimeoutMs, () => abandon('it takes too long'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => abandon('stopped'));
  try {
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const results = await runBench({ options, folder, say });
    const file = options.jsonFile ?? join(tmpdir(), `gw-bench-${results.startedAt.replaceAll(':', '-')}.json`);
    await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`);
    process.stdout.write(`${resultsText(results)}\nAll figures: ${file}\n`);
  } finally {
    stopTimer();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Children end with their channel to us. */
function abandon(why: string): never {
  process.stderr.write(`bench: ${why}\n`);
  process.exit(1);
}

const say = (error: unknown, more = ''): void => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n${more}`);
  process.exitCode = 1;
};

/** Undefined: it was said what is wrong with the arguments. */
function readArguments(): BenchOptions | undefined {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(error, `usage: ${usage}\n`);
    return undefined;
  }
}

const options = readArguments();
if (options !== undefined) {
  await main(options).catch((error) => say(error));
  // Idle sockets of the store's client would keep the process for some seconds.
  process.exit();
}
