// Declares the inputs and the outcome of a command. A command prints no result itself. It returns its outcome, so that
// the output of `--json` is one document and nothing else.
import type { Randomness } from '../../../shared/foundation/ids/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { Style, Terminal } from '../output/terminal.ts';
import type { OpenTarget } from '../target/open-store.ts';
import type { OpenOptions } from '../target/open-target.ts';
import type { Target } from '../target/target.ts';
import { UsageError } from './option-values.ts';

export interface CommandOutcome {
  /** The document of `--json`. Amounts are exact decimal strings. */
  readonly json: unknown;
  /** Lines with the same contents for people. */
  readonly lines: (style: Style) => readonly string[];
  /**
   * One line for a command that did not do everything requested, with exit code 1. The results of the command are
   * printed as well.
   */
  readonly failure?: string | undefined;
}

/** Lines that are printed as they are produced, in the requested format. */
export interface LineByLine {
  readonly lineByLine: AsyncIterable<string>;
}

export interface Session {
  readonly terminal: Terminal;
  readonly target: Target;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Variables of the shell. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Whether `--yes` confirms all questions. */
  readonly isConfirmed: boolean;
  /** Opens the target; a second call returns the same target. The target is closed after the command. */
  open(options?: OpenOptions): Promise<OpenTarget>;
}

/** Session of a command that needs no store. */
export type StorelessSession = Omit<Session, 'target' | 'open'>;

/** Thrown if the answer to a question was not yes. Nothing was done. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

/**
 * Asks for a confirmation. `what` is the whole step, such as "revoke key ci of team-a". Throws Declined, or UsageError
 * if there is no terminal.
 */
export async function confirm({ terminal, isConfirmed }: Session, what: string): Promise<void> {
  if (isConfirmed) return;
  if (!terminal.canAsk) throw new UsageError(`this would ${what}: pass --yes, as there is no terminal to ask on`);
  const answer = (await terminal.ask(`${what.charAt(0).toUpperCase()}${what.slice(1)}? [y/N] `)).trim().toLowerCase();
  if (answer !== 'y' && answer !== 'yes') throw new Declined('nothing was done');
}
