// `keys reconcile`: after tables were restored to an earlier moment, ends the keys again that were ended since then.
import { createAdministration, reconcileKeys } from '../../../shared/configuration/administration/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { UsageError } from '../args/option-values.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { openAdministration } from '../target/stores.ts';

/** `none`: the tables without one. */
const readSuffix = (name: string, text: string): string => {
  if (text === 'none' || text === '') return '';
  if (/^[A-Za-z0-9_-]{1,40}$/.test(text)) return text;
  throw new UsageError(`${name} takes the suffix of tables, or none`);
};

export function addReconcile(keys: CommandLine): void {
  keys
    .command('reconcile')
    .description('after tables were restored: end the keys and operator keys that had ended in the former tables')
    .requiresOption('--from <SUFFIX>', 'suffix of the names of the former tables; none: they have none', readSuffix)
    .notes(
      'A suffix that begins with - is written --from=-SUFFIX. A second run changes only what is still missing.',
      'Keys that were made after the restored moment are gone, also those that a rotation made.',
    )
    .does(reconcile);
}

async function reconcile(session: Session, { from }: { readonly from: string }): Promise<CommandOutcome> {
  const present = await openAdministration(session, { writes: true });
  const { clock, randomness } = session;
  const { storeOf } = await session.open();
  if (storeOf === undefined) throw new UsageError('needs --stage or --dynamodb: a folder has no tables beside its own');
  session.terminal.showProgress('comparing keys …');
  const ended = await reconcileKeys(present, createAdministration({ store: storeOf(from), clock, randomness }));
  const isoOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    json: {
      ended: ended.map(({ table, publicId, name, workspace, expiresAtMs }) => ({
        table,
        public_id: publicId,
        name,
        workspace: workspace ?? null,
        status: expiresAtMs === null ? 'revoked' : 'active',
        expires_at: isoOf(expiresAtMs),
      })),
    },
    lines: () =>
      ended.length === 0
        ? ['nothing has ended since']
        : ended.map(({ table, publicId, name, workspace, expiresAtMs }) => {
            const what = table === 'operators' ? `operator ${name}` : `key ${name} of ${workspace}`;
            const end =
              expiresAtMs === null ? 'stays revoked' : `ends ${isoOf(expiresAtMs)}, as it was rotated or given an end`;
            return `${what} (${publicId}) ${end}`;
          }),
  };
}
