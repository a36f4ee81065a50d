// Describes `gw start` for help. main.ts runs the command, because it serves until a signal ends it, and has the
// options of `npm start`.
import { startCommand } from '../../../shared/foundation/constants/index.ts';
import { usage } from '../../local/start-options.ts';
import type { CommandLine } from '../args/command-line.ts';

export function addStart(program: CommandLine): void {
  const start = program
    .command(startCommand)
    .description('run a gateway on this machine; start --help lists its options');
  start.isGroup = false;
  start.helpInformation = () => usage;
}
