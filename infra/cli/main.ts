// `npm run gw -- COMMAND …`: the operator's command line.
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { commands } from './commands.ts';
import { openTarget } from './open-target.ts';
import { run } from './run.ts';
import { processTerminal } from './terminal.ts';

// `gw usage | head` is no failure.
process.stdout.on('error', () => process.exit());

const code = await run({
  commands,
  words: process.argv.slice(2),
  terminal: processTerminal(process),
  clock: systemClock,
  randomness: systemRandomness,
  variables: process.env,
  open: openTarget,
});
// Not by waiting for every idle socket and timer; what was printed is on its way out first.
process.stdout.write('', () => process.exit(code));
