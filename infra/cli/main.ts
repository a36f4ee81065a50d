// `npm run gw -- COMMAND …`: the operator's command line.
import { enableCompileCache } from 'node:module';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { processTerminal } from './output/terminal.ts';

// What is imported from here on is compiled once, and kept with the temporary files: a command starts in half the time.
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
// Idle sockets and timers are not waited for; what was printed is written out first.
process.stdout.write('', () => process.exit(code));
