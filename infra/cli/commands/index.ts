// Every command, in the order in which help lists them.
import type { CommandLine } from '../args/command-line.ts';
import { addAlerts } from './alerts.ts';
import { addApply } from './apply.ts';
import { addCalls } from './calls.ts';
import { addCredentials } from './credentials.ts';
import { addCredits } from './credits.ts';
import { addExport } from './export.ts';
import { addFunctions } from './functions.ts';
import { addKeys } from './keys.ts';
import { addModels } from './models.ts';
import { addOperators } from './operators.ts';
import { addPause } from './pause.ts';
import { addPolicy } from './policy.ts';
import { addProviders } from './providers.ts';
import { addStatus } from './status.ts';
import { addUsage } from './usage.ts';
import { addWorkspaces } from './workspaces.ts';

export function addCommands(program: CommandLine): void {
  addApply(program);
  addExport(program);
  addStatus(program);
  addCalls(program);
  addUsage(program);
  addProviders(program);
  addModels(program);
  addWorkspaces(program);
  addKeys(program);
  addOperators(program);
  addCredits(program);
  addFunctions(program);
  addCredentials(program);
  addAlerts(program);
  addPause(program);
  addPolicy(program);
}
