// Defines the command line, built on commander: commands whose work returns an outcome, one text for every mistake, and
// help that names each command in full. No message repeats an argument, because it may be a secret in the wrong place.
import { Argument, Command, type ErrorOptions, Help, type HelpContext, Option } from 'commander';
import { nearestOf } from '../../../shared/errors/index.ts';
import { programs } from '../../../shared/foundation/constants/index.ts';
import { type TargetOptions, targetOptionGroup, targetOptions, targetUsage } from '../target/target.ts';
import { type ParseOption, type ParseRepeatedOption, UsageError } from './option-values.ts';
import type { CommandOutcome, LineByLine, Session, StorelessSession } from './session.ts';

/** The work of a command, called with its parsed arguments in their order, and then with its options. */
export type CommandWork = (session: Session) => Promise<CommandOutcome | LineByLine>;
/** Runs the work of the named command. `options` are the values of the options that every command has. */
export type Execute = (command: CommandLine, options: CommonOptions, work: CommandWork) => Promise<void>;

export interface CommonOptions extends TargetOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** A group of commands, such as `keys`, or a command, such as `keys create`. */
export class CommandLine extends Command {
  readonly #execute: Execute;
  /** Whether one of its commands must follow. */
  isGroup = true;
  needsStore = true;

  constructor(name: string, execute: Execute) {
    super(name);
    this.#execute = execute;
    // Options after `calls show` belong to it and not to `calls`.
    this.enablePositionalOptions();
    // Suggestions would quote words of the command line.
    this.showSuggestionAfterError(false);
  }

  /**
   * Adds an argument: `WORKSPACE`, `[WORKSPACE]` for an optional one, or `[MODEL...]` for any number of them, as a
   * list.
   */
  takesArgument(name: string, read: ParseOption): this {
    const argument = new Argument(name.startsWith('[') ? name : `<${name}>`);
    const readOne = (text: string) => read(argument.name(), text);
    return this.addArgument(
      argument.argParser((text: string, former: unknown) =>
        argument.variadic ? [...((former as unknown[] | undefined) ?? []), readOne(text)] : readOne(text),
      ),
    );
  }

  /** Adds an option: `--rpm <N>`, or a switch without a value. */
  takesOption(flags: string, summary: string, read?: ParseOption): this {
    return this.addOption(newOption(flags, summary, read));
  }

  /** Adds an option that may be repeated. `read` also gets the value of the previous occurrences. */
  takesRepeatedOption(flags: string, summary: string, read: ParseRepeatedOption): this {
    const option = new Option(flags, summary);
    return this.addOption(option.argParser((text, former: unknown) => read(option.long ?? '', text, former)));
  }

  requiresOption(flags: string, summary: string, read: ParseOption): this {
    return this.addOption(newOption(flags, summary, read).makeOptionMandatory());
  }

  /** Adds `--yes`, for a command that asks before it removes access. */
  asks(): this {
    return this.takesOption('--yes', 'do it without being asked');
  }

  notes(...lines: readonly string[]): this {
    return this.addHelpText('after', `\n${lines.join('\n')}`);
  }

  /** Sets the work of the command, which runs once its arguments and options are parsed. Must be called last. */
  does<Input extends unknown[]>(
    work: (session: Session, ...input: Input) => Promise<CommandOutcome | LineByLine>,
  ): this {
    this.isGroup = false;
    this.takesOption('--json', 'one JSON document on standard output, and nothing else');
    for (const { flags, summary, read } of targetOptions) {
      this.addOption(newOption(flags, summary, read).helpGroup(targetOptionGroup));
    }
    return this.action((...all: unknown[]) => {
      const input = all.slice(0, -1) as Input;
      return this.#execute(this, input.at(-1) as CommonOptions, (session) => work(session, ...input));
    });
  }

  /** Sets the work of a command that needs no store. */
  doesWithoutStore<Input extends unknown[]>(
    work: (session: StorelessSession, ...input: Input) => Promise<CommandOutcome>,
  ): this {
    this.isGroup = false;
    this.needsStore = false;
    this.takesOption('--json', 'one JSON document on standard output, and nothing else');
    return this.action((...all: unknown[]) => {
      const input = all.slice(0, -1) as Input;
      return this.#execute(this, input.at(-1) as CommonOptions, (session) => work(session, ...input));
    });
  }

  override createCommand(name = ''): CommandLine {
    return new CommandLine(name, this.#execute);
  }

  override createHelp(): Help {
    return Object.assign(new FullNamesHelp(), this.configureHelp());
  }

  override error(message: string, { code = '' }: ErrorOptions = {}): never {
    throw new UsageError(describeMistake(this, message, code));
  }

  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === 'object' && context.error === true)
      throw new UsageError(`say which command: ${namesIn(this)}`);
    throw new Error('a request for help is answered before the line is parsed');
  }
}

function newOption(flags: string, summary: string, read: ParseOption | undefined): Option {
  const option = new Option(flags, summary);
  if (read === undefined) return option;
  return option.argParser((text, former: unknown) => {
    if (former !== undefined) throw new UsageError(`${option.long} is written twice`);
    return read(option.long ?? '', text);
  });
}

/** Returns a name such as `keys create`; empty for the program itself. */
export const fullName = (command: Command): string =>
  command.parent === null ? '' : `${fullName(command.parent)} ${command.name()}`.trim();

export const isGroup = (command: Command): boolean => command instanceof CommandLine && command.isGroup;

export const needsStore = (command: Command): boolean => !(command instanceof CommandLine) || command.needsStore;

/** Lists the command and all below it that have work. */
export const commandsIn = (command: Command): readonly Command[] => [
  ...(isGroup(command) ? [] : [command]),
  ...command.commands.flatMap(commandsIn),
];

/** Lists the groups of the program itself, because all of its commands do not fit into a line. */
const namesIn = (command: Command): string =>
  (command.parent === null ? command.commands : commandsIn(command)).map(fullName).join(', ');

/** Returns a line such as `npm run gw -- keys create --workspace W --name N [--rpm N] (--stage NAME | …)`. */
export function usageLine(command: Command): string {
  if (isGroup(command)) return [programs.commandLine, fullName(command), 'COMMAND --help'].filter(Boolean).join(' ');
  const options = command.options.filter(
    ({ long, helpGroupHeading }) => helpGroupHeading === undefined && long !== '--json',
  );
  const words = [
    ...command.registeredArguments.map(wordOf),
    ...options.map((option) => (option.mandatory ? plainFlags(option.flags) : `[${plainFlags(option.flags)}]`)),
  ];
  const target = needsStore(command) ? [targetUsage] : [];
  return [programs.commandLine, fullName(command), ...words, ...target].join(' ');
}

const wordOf = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
  return argument.required ? name : `[${name}]`;
};

/** Shortens flags: `-f, --file <FILE>` becomes `-f FILE`. */
const plainFlags = (flags: string): string => flags.replace(/, --[a-z-]+/, '').replace(/[<>]/g, '');

class FullNamesHelp extends Help {
  override commandUsage = usageLine;
  override subcommandTerm = fullName;
  override optionTerm = ({ flags }: Option): string => flags.replace(/[<>]/g, '');
  override styleTitle = (title: string): string => title.toLowerCase();

  override formatHelp(command: Command, helper: Help): string {
    // The override exists only while help is written, because commander also uses it to suggest names of one level.
    this.visibleCommands = () => commandsIn(command).filter((known) => known !== command);
    return super.formatHelp(command, helper);
  }
}

/** Describes a mistake by commander's error code. */
function describeMistake(command: Command, message: string, code: string): string {
  const [written = ''] = command.args;
  if (code === 'commander.unknownCommand' || (code === 'commander.excessArguments' && command.commands.length > 0)) {
    const suggestion = nearestOf(
      written,
      command.commands.map((known) => known.name()),
    );
    return `there is no such command${suggestion === undefined ? `; there are ${namesIn(command)}` : hint(`${fullName(command)} ${suggestion}`.trim())}`;
  }
  if (isGroup(command)) return `say which command (it comes before its options): ${namesIn(command)}`;
  switch (code) {
    case 'commander.missingArgument':
      return `${command.registeredArguments[command.args.length]?.name()} is missing`;
    case 'commander.missingMandatoryOptionValue': {
      const isMissing = (option: Option) =>
        option.mandatory && command.getOptionValue(option.attributeName()) === undefined;
      // A mistyped option is reported first, because it may be the reason why another option is missing.
      return describeTypo(command) ?? `${command.options.filter(isMissing).map(termOf)[0]} is required`;
    }
    case 'commander.unknownOption':
    case 'commander.excessArguments':
      return describeTypo(command) ?? 'there are more arguments than it takes';
    default:
      // The message names an option without its value.
      return message.slice('error: '.length);
  }
}

/** Returns undefined when every word is an option or an argument of the command. */
function describeTypo({ args, options, registeredArguments }: Command): string | undefined {
  const known = options.flatMap(({ long }) => long ?? []);
  const option = args.find((word) => word.startsWith('-'));
  if (option !== undefined) {
    const name = nameOf(option);
    return `unknown option '${name}'${hint(nearestOf(name, known))}`;
  }
  const surplus = registeredArguments.at(-1)?.variadic ? [] : args.slice(registeredArguments.length);
  if (surplus.length === 0) return undefined;
  const [suggestion] = surplus.flatMap((word) => nearestOf(`--${word.split('=')[0]}`, known) ?? []);
  return `there are more arguments than it takes${hint(suggestion)}`;
}

const termOf = ({ flags }: Option): string => plainFlags(flags);
const hint = (suggestion: string | undefined): string =>
  suggestion === undefined ? '' : `; did you mean ${suggestion}?`;

/** Returns the name of an option without its value; other words are hidden. */
const nameOf = (word: string): string => /^--?[a-z][a-z-]{0,31}(?==|$)/.exec(word)?.[0] ?? '…';
