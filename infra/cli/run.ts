// One line of the operator, from its words to an exit code: 0 done, 1 failed or declined, 2 it cannot be run. What a
// command opened is closed whatever happens.
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Command, OpenOptions, Outcome, Session } from './command.ts';
import { Declined } from './confirm.ts';
import { describeFailure, oneLine } from './describe-failure.ts';
import { commandHelp, commonOptions, confirmOption, generalHelp, usageLine } from './help.ts';
import { toJsonText } from './output/json-text.ts';
import { parseInput } from './parse-input.ts';
import { readTarget, type Target } from './target.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export type ExitCode = 0 | 1 | 2;

export interface Closable {
  close(): Promise<void>;
}

export interface RunOptions<Opened extends Closable> {
  readonly commands: readonly Command<Opened>[];
  readonly words: readonly string[];
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly open: (target: Target, terminal: Terminal, options: OpenOptions) => Promise<Opened>;
}

/** Never rejects. */
export async function run<Opened extends Closable>(options: RunOptions<Opened>): Promise<ExitCode> {
  const { commands, words, terminal } = options;
  const found = findCommand(commands, words);
  if (found === undefined) return answerWithoutCommand(commands, words, terminal);
  const { command, rest } = found;
  if (rest.includes('--help') || rest.includes('-h')) {
    for (const line of commandHelp(command)) terminal.writeOut(line);
    return 0;
  }
  try {
    return await runCommand(options, command, rest);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.writeError(`gw ${command.name}: ${oneLine(error.message)}; usage: ${usageLine(command)}`);
    return 2;
  }
}

/** Throws UsageError only. */
async function runCommand<Opened extends Closable>(
  { terminal, clock, randomness, variables, open }: RunOptions<Opened>,
  command: Command<Opened>,
  rest: readonly string[],
): Promise<ExitCode> {
  const { parameters = [], options = {}, asks = false } = command;
  const input = parseInput(
    { parameters, options: { ...options, ...(asks ? confirmOption : {}), ...commonOptions } },
    rest,
  );
  const target = readTarget(input);
  const work = command.prepare(input);
  let opened: Promise<Opened> | undefined;
  const session: Session<Opened> = {
    terminal,
    target,
    clock,
    randomness,
    variables,
    isConfirmed: asks && input.isSet('yes'),
    open: (openOptions = {}) => {
      opened ??= open(target, terminal, openOptions);
      return opened;
    },
  };
  try {
    return report(await work(session), command, terminal, input.isSet('json'));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Declined ? error.message : describeFailure(error, target);
    terminal.writeError(`gw ${command.name}: ${reason}`);
    return 1;
  } finally {
    // What could not be opened has been reported.
    await opened?.then((one) => one.close()).catch(() => {});
  }
}

function report({ json, lines, failure }: Outcome, { name }: { name: string }, terminal: Terminal, asJson: boolean) {
  for (const line of asJson ? [toJsonText(json)] : lines(terminal.style)) terminal.writeOut(line);
  if (failure === undefined) return 0;
  terminal.writeError(`gw ${name}: ${oneLine(failure)}`);
  return 1;
}

/** Two words first: `keys create`, then one: `apply`. */
function findCommand<Found extends { readonly name: string }>(commands: readonly Found[], words: readonly string[]) {
  for (const count of [2, 1]) {
    const command = commands.find(({ name }) => name === words.slice(0, count).join(' '));
    if (command !== undefined) return { command, rest: words.slice(count) };
  }
  return undefined;
}

function answerWithoutCommand(
  commands: readonly Command<never>[],
  words: readonly string[],
  terminal: Terminal,
): ExitCode {
  const group = commands.filter(({ name }) => name.split(' ')[0] === words[0]);
  const asksForHelp = words.some((word) => word === '--help' || word === '-h');
  if (asksForHelp && (group.length > 0 || words[0]?.startsWith('-') === true)) {
    for (const line of generalHelp(group.length > 0 ? group : commands)) terminal.writeOut(line);
    return 0;
  }
  const known = (group.length > 0 ? group : commands).map(({ name }) => name).join(', ');
  const problem = words.length === 0 ? 'say what to do' : 'there is no such command (it comes before its options)';
  terminal.writeError(`gw: ${problem}: ${known}; usage: npm run gw -- COMMAND --help`);
  return 2;
}
