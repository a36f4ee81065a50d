// `npm run gw -- COMMAND …`: the operator's command line.
import { enableCompileCache } from 'node:module';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { processTerminal } from './output/terminal.ts';

// Modules imported from here on are compiled once, and cached with the temporary files: a command starts in half the
// time.
enableCompileCache();
const { run } = await import('./args/run.ts');

// `gw usage | head` is no failure.
process.stdout.on('error', () => process.exit());

const code = await run(process.argv.slice(2), {
  terminal: processTerminal(process),
  clock: systemClock,
  randomness: systemRandomness,
  variables: process.env,
});
// Exits without waiting for idle sockets and timers, once the output is written.
process.stdout.write('', () => process.exit(code));
