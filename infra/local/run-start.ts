// Runs a gateway from its options to its end, and prints the lines of a failure (`npm start` and `gw start`).
import { programs } from '../../shared/foundation/constants/index.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { guardProcess } from '../../shared/protocol/http/index.ts';
import { StoreFileRefused } from '../../shared/storage/sqlite-store/index.ts';
import { InvalidGatewayFile } from './config-file.ts';
import { startLocalGateway } from './start-local-gateway.ts';
import { readOptions, usage } from './start-options.ts';

/** Interval of checks whether npm has ended. */
const parentLookMs = 250;

/** Returns a function that prints lines. Standard output is for the log if a program reads the log. */
const sayOn = (output: NodeJS.WriteStream) => (line: string) => void output.write(`${line}\n`);

/** Resolves once the gateway serves; a signal then ends the process. A failure ends it with a line for each fault. */
export async function runStart(words: readonly string[]): Promise<void> {
  // A reader of the output that has ended does not fail any request.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  try {
    const options = readOptions(words, process.env);
    if (options === 'help') {
      sayOn(process.stdout)(usage);
      process.exit(0);
    }
    const parent = process.ppid;
    let isStopping = false;
    const stop = () => {
      if (!isStopping) void starting.then((gateway) => gateway.stop()).then(() => process.exit(0), endWith);
      isStopping = true;
    };
    const starting = startLocalGateway(options, sayOn(options.log === 'json' ? process.stderr : process.stdout), () => {
      // A terminal sends SIGINT to npm and to this process, and npm passes its own on. The second signal has no effect.
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
    });
    guardProcess((await starting).log);
    if (process.env.npm_lifecycle_event !== undefined) void stopWithParent(parent, stop);
  } catch (error) {
    endWith(error);
  }
}

function endWith(error: unknown): never {
  for (const line of linesOf(error)) process.stderr.write(`gw: ${line}\n`);
  process.exit(1);
}

/**
 * Stops when npm has ended. npm passes SIGTERM on to the shell in which it starts this process. Not every shell passes
 * the signal on, but the shell ends, and this process gets another parent.
 */
async function stopWithParent(parent: number, stop: () => void): Promise<void> {
  while (process.ppid === parent) await sleep(systemClock, parentLookMs);
  stop();
}

function linesOf(error: unknown): readonly string[] {
  if (error instanceof InvalidGatewayFile) return error.lines;
  const shown = error instanceof Error && error.cause instanceof StoreFileRefused ? error.cause : error;
  const [reason = ''] = (shown instanceof Error ? shown.message : String(shown)).split('\n');
  const isUsage = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  return [isUsage ? `${reason}; ${programs.start} --help prints the options` : reason];
}
