// Every command, in the order in which help lists them.
import type { CommandLine } from '../args/command-line.ts';
import { addApply } from './apply.ts';
import { addCredentials } from './credentials.ts';
import { addCredits } from './credits.ts';
import { addFunctions } from './functions.ts';
import { addKeys } from './keys.ts';
import { addStatus } from './status.ts';
import { addUsage } from './usage.ts';

export function addCommands(program: CommandLine): void {
  for (const add of [addApply, addStatus, addUsage, addKeys, addCredits, addFunctions, addCredentials]) add(program);
}
