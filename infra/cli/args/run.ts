// Runs one command line and returns its exit code: 0 for success, 1 for a failure or a declined question, 2 for invalid
// arguments. Resources that a command opened are closed whatever happens.
import type { Command } from 'commander';
import packageFile from '../../../package.json' with { type: 'json' };
import { dataVariable } from '../../../shared/foundation/constants/index.ts';
import type { Randomness } from '../../../shared/foundation/ids/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { addCommands } from '../commands/index.ts';
import { describeFailure } from '../output/describe-failure.ts';
import { oneLine, toJsonText } from '../output/format.ts';
import { onlyText, type Terminal } from '../output/terminal.ts';
import type { OpenTarget } from '../target/open-store.ts';
import { openTarget } from '../target/open-target.ts';
import { readTarget, type Target } from '../target/target.ts';
import {
  CommandLine,
  type CommandWork,
  type CommonOptions,
  type Execute,
  fullName,
  isGroup,
  needsStore,
  usageLine,
} from './command-line.ts';
import { UsageError } from './option-values.ts';
import { type CommandOutcome, Declined, type LineByLine } from './session.ts';

export type ExitCode = 0 | 1 | 2;

export interface Circumstances {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/**
 * Creates the program with the command of this name, or with every command if `name` is not the first word of a
 * command.
 */
export async function createProgram(execute: Execute, name?: string): Promise<CommandLine> {
  const program = new CommandLine('gw', execute);
  program.description("The operator's command line of the gateway.");
  program.notes(
    'Every command works on one store: --stage NAME, --dynamodb URL or --data DIR (default: the variable GW_DATA).',
    'COMMAND --help, or help COMMAND, explains one command; --version tells the release.',
    'Exit 0: done. 1: it failed or was declined. 2: the line cannot be run.',
  );
  await addCommands(program, name);
  return program;
}

/** Runs a command line. Never rejects. */
export async function run(words: readonly string[], processCircumstances: Circumstances): Promise<ExitCode> {
  const terminal = onlyText(processCircumstances.terminal);
  const circumstances = { ...processCircumstances, terminal };
  let code: ExitCode = 0;
  if (words.length === 1 && words[0] === '--version') {
    terminal.writeOut(`gw ${packageFile.version}`);
    return 0;
  }
  const isHelp = words.length === 0 || words[0] === 'help' || words.includes('--help') || words.includes('-h');
  const names = words.slice(words[0] === 'help' ? 1 : 0);
  const program = await createProgram(async (command, options, work) => {
    code = await execute(circumstances, command, options, work);
  }, names[0]);
  const { command, isWhole } = findCommand(program, names);
  try {
    if (isHelp && isWhole) showHelp(command, terminal);
    // A mistyped command fails at this point, even if its help is requested.
    else await program.parseAsync(isHelp ? names.filter((name) => !name.startsWith('-')) : words, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.writeError(
      `gw ${fullName(command)}`.trim().concat(`: ${oneLine(error.message)}; usage: ${usageLine(command)}`),
    );
    return 2;
  }
}

/** Finds the command that the first words name. `isWhole` is false if the next word names none of its commands. */
function findCommand(program: Command, words: readonly string[]): { command: Command; isWhole: boolean } {
  const next = program.commands.find((command) => command.name() === words[0]);
  if (next !== undefined) return findCommand(next, words.slice(1));
  const isWhole = !isGroup(program) || words[0] === undefined || words[0].startsWith('-');
  return { command: program, isWhole };
}

function showHelp(command: Command, { writeOut, style }: Terminal): void {
  const helpWidth = Number.isFinite(style.columns) ? style.columns : 120;
  command.configureOutput({
    writeOut: (text) => {
      for (const line of text.replace(/\n$/, '').split('\n')) writeOut(line);
    },
    getOutHelpWidth: () => helpWidth,
    getOutHasColors: () => false,
  });
  command.outputHelp();
}

/** A store that is never opened. */
const noStore: Target = { kind: 'folder', folder: '' };

/** Runs a command. Throws UsageError only. */
async function execute(
  { terminal, ...circumstances }: Circumstances,
  command: Command,
  options: CommonOptions,
  work: CommandWork,
): Promise<ExitCode> {
  const target = needsStore(command) ? readTarget(options, circumstances.variables[dataVariable]) : noStore;
  let opened: Promise<OpenTarget> | undefined;
  try {
    const outcome = await work({
      ...circumstances,
      terminal,
      target,
      isConfirmed: options.yes === true,
      open: (openOptions) => {
        opened ??= openTarget(target, terminal, openOptions);
        return opened;
      },
    });
    return await report(outcome, command, terminal, options.json === true);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Declined ? error.message : describeFailure(error, target);
    terminal.writeError(`gw ${fullName(command)}: ${reason}`);
    return 1;
  } finally {
    // The failure to open was reported.
    await opened?.then((one) => one.close()).catch(() => {});
  }
}

async function report(
  outcome: CommandOutcome | LineByLine,
  command: Command,
  terminal: Terminal,
  asJson: boolean,
): Promise<ExitCode> {
  if ('lineByLine' in outcome) {
    for await (const line of outcome.lineByLine) terminal.writeOut(line);
    return 0;
  }
  const { json, lines, failure } = outcome;
  for (const line of asJson ? toJsonText(json).split('\n') : lines(terminal.style)) terminal.writeOut(line);
  if (failure === undefined) return 0;
  terminal.writeError(`gw ${fullName(command)}: ${oneLine(failure)}`);
  return 1;
}
