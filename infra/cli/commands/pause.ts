// Makes every process refuse calls, for example while tables are replaced by others, and serve them again (`pause |
// resume`).
import { configFreshMs } from '../../../shared/foundation/constants/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { type CommandOutcome, confirm, type Session } from '../args/session.ts';
import { openAdministration } from '../target/stores.ts';
import { describeTarget } from '../target/target.ts';

export function addPause(program: CommandLine): void {
  program
    .command('pause')
    .description('refuse every call with 503 and Retry-After, within five seconds everywhere')
    .asks()
    .notes(
      'Running calls end normally. Changes by operators are refused too, except with this command line. `resume` ends the pause.',
    )
    .does((session) => setPaused(session, true));
  program
    .command('resume')
    .description('serve calls again, within five seconds everywhere')
    .does((session) => setPaused(session, false));
}

async function setPaused(session: Session, isPaused: boolean): Promise<CommandOutcome> {
  const target = describeTarget(session.target);
  if (isPaused) await confirm(session, `refuse every call of ${target} until it is resumed`);
  const { catalogues } = await openAdministration(session, { writes: true });
  const isChanged = await catalogues.setPaused(isPaused);
  const state = isPaused ? 'paused' : 'resumed';
  const seconds = configFreshMs / 1_000;
  return {
    json: {
      state: isPaused ? 'paused' : 'serving',
      change: isChanged ? 'changed' : 'unchanged',
      effective_within_seconds: seconds,
    },
    lines: () => [
      isChanged
        ? `${target} is ${state}: every gateway ${isPaused ? 'refuses' : 'serves'} calls within ${seconds} s`
        : `${target} was ${isPaused ? 'paused' : 'serving'} before`,
    ],
  };
}
