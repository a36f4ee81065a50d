// What a command of the operator is: how it is called, and what it gives back. A command prints nothing itself: it
// returns its outcome, so that `--json` is one document and nothing else, whatever the command does.
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Input, OptionDefinition, Parameter } from './input.ts';
import type { Target } from './target.ts';
import type { Style, Terminal } from './terminal.ts';

export interface Outcome {
  /** The document of `--json`. Amounts are exact decimal strings. */
  readonly json: unknown;
  /** The same for people. */
  readonly lines: (style: Style) => readonly string[];
  /** One line: the command did not do (all) it was asked for, exit 1. What it did is printed all the same. */
  readonly failure?: string | undefined;
}

export interface OpenOptions {
  /** A store that is not there yet is made. Without it, one that holds nothing takes its place. */
  readonly creates?: boolean;
}

/** What a command may use. */
export interface Session<Opened> {
  readonly terminal: Terminal;
  readonly target: Target;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Variables of the shell. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** `--yes`: what would be asked is answered. */
  readonly isConfirmed: boolean;
  /** Opens the target; the second call gives what the first one opened. It is closed after the command. */
  open(options?: OpenOptions): Promise<Opened>;
}

export interface Command<Opened> {
  /** One word, or two: `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly options?: Readonly<Record<string, OptionDefinition>>;
  /** Takes `--yes`. */
  readonly asks?: boolean;
  /** Further lines of its help. */
  readonly notes?: readonly string[];
  /** Reads the input, throwing UsageError, before anything is opened. What it returns does the work. */
  readonly prepare: (input: Input) => (session: Session<Opened>) => Promise<Outcome>;
}
