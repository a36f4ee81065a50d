// Runs the operator's command line: `npm run gw -- COMMAND …`, and the program `gw` of the package.
import { enableCompileCache } from 'node:module';
import { startCommand } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { processTerminal } from './output/terminal.ts';

// Modules that are imported after this call are compiled once, and cached with the temporary files, so that a command
// starts in half the time.
enableCompileCache();
const [first, ...words] = process.argv.slice(2);
if (first === startCommand) {
  const { runStart } = await import('../local/run-start.ts');
  await runStart(words);
} else {
  const { run } = await import('./args/run.ts');
  // A closed pipe, as in `gw usage | head`, is not a failure.
  process.stdout.on('error', () => process.exit());
  const code = await run(process.argv.slice(2), {
    terminal: processTerminal(process),
    clock: systemClock,
    randomness: systemRandomness,
    variables: process.env,
  });
  // The process exits once the output is written, without waiting for idle sockets and timers.
  process.stdout.write('', () => process.exit(code));
}
