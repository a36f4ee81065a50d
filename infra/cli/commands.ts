// Every command, in the order in which help lists them.
import type { Command } from './command.ts';
import { applyCommand } from './commands/apply.ts';
import { credentialsSetCommand } from './commands/credentials-set.ts';
import { creditsAddCommand } from './commands/credits-add.ts';
import { creditsShowCommand } from './commands/credits-show.ts';
import {
  functionsActivateCommand,
  functionsDisableCommand,
  functionsEnableCommand,
} from './commands/functions-change.ts';
import { functionsListCommand } from './commands/functions-list.ts';
import { functionsQualifyCommand } from './commands/functions-qualify.ts';
import { functionsShowCommand } from './commands/functions-show.ts';
import { keysCreateCommand } from './commands/keys-create.ts';
import { keysListCommand } from './commands/keys-list.ts';
import { keysRevokeCommand } from './commands/keys-revoke.ts';
import { statusCommand } from './commands/status.ts';
import { usageCommand } from './commands/usage.ts';
import type { OpenTarget } from './open-target.ts';

export const commands: readonly Command<OpenTarget>[] = [
  applyCommand,
  statusCommand,
  usageCommand,
  keysCreateCommand,
  keysListCommand,
  keysRevokeCommand,
  creditsAddCommand,
  creditsShowCommand,
  functionsListCommand,
  functionsShowCommand,
  functionsActivateCommand,
  functionsDisableCommand,
  functionsEnableCommand,
  functionsQualifyCommand,
  credentialsSetCommand,
];
