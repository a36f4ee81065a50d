// Steps that cannot be taken back: somebody says yes, on the line or when asked, or nothing is done.
import type { Session } from './command.ts';
import { UsageError } from './usage-error.ts';

/** Nobody confirmed: not a mistake, and nothing was done. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

/** `what` is the whole step: "revoke key ci of team-a". Throws Declined, or UsageError where nobody can be asked. */
export async function confirm(
  { terminal, isConfirmed }: Pick<Session<unknown>, 'terminal' | 'isConfirmed'>,
  what: string,
  details: readonly string[] = [],
): Promise<void> {
  if (isConfirmed) return;
  if (!terminal.canAsk) throw new UsageError(`this would ${what}: pass --yes, as nobody can be asked here`);
  for (const line of details) terminal.writeError(line);
  const answer = (await terminal.ask(`${what.charAt(0).toUpperCase()}${what.slice(1)}? [y/N] `)).trim().toLowerCase();
  if (answer !== 'y' && answer !== 'yes') throw new Declined('nothing was done');
}
