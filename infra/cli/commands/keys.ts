// Creates and changes API keys with their limits and spending (`keys create | list | update | rotate | revoke`). A key
// is printed when it is created, the only time that its text is known.
import type { ManagementDependencies } from '../../../functions/operator/dependencies.ts';
import { perform } from '../../../functions/operator/perform.ts';
import {
  type AdministrationDependencies,
  createAdministration,
  readActiveKey,
  readKey,
  reconcileKeys,
} from '../../../shared/configuration/administration/index.ts';
import { isKeyExpired, type KeyRecord } from '../../../shared/configuration/keys/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { keySettings } from '../../../shared/configuration/settings/index.ts';
import { collect } from '../../../shared/foundation/parallel/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import {
  addCallCommands,
  type CallCommands,
  input,
  type LineInput,
  type LineRequest,
  search,
  shownList,
} from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { publicIdIn, readId, readKeyName, readOwner, readText, UsageError } from '../args/option-values.ts';
import { type CommandOutcome, confirm, type Session } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { openAdministration, openManagement } from '../target/stores.ts';
import { expiresHint, readExpires, readGrace, settingFields, settingOptions } from './setting-options.ts';

const keyNote =
  'KEY is a name with --workspace, or the public id: the 16 characters behind sk-gw-, as keys list shows.';
const workspaceOfName = 'where KEY is a name: the workspace that has it';

/** Finds the active key of a name. Throws ChangeFailed. */
const readNamedKey = (deps: AdministrationDependencies, named: KeyReference): Promise<KeyRecord> =>
  'publicId' in named ? readKey(deps, named.publicId) : readActiveKey(deps, named);

export function addKeys(program: CommandLine): void {
  const keys = program.command('keys').description('API keys with their limits and what they have spent');
  addCallCommands<'keys'>(keys, keyCommands);
  keys
    .command('revoke')
    .description('refuse a key from its next request on')
    .takesArgument('[KEY]', readText)
    .takesOption('--workspace <W>', workspaceOfName, readId)
    .takesOption('--owner <EMAIL>', 'in place of KEY: all keys that this person made for themselves', readOwner)
    .asks()
    .notes(keyNote)
    .does(revoke);
  addReconcile(keys);
}

/** Revokes one key, or all keys of a person who has left. */
async function revoke(
  session: Session,
  written: string | undefined,
  { owner, workspace }: { readonly owner?: string; readonly workspace?: string },
): Promise<CommandOutcome> {
  if ((written === undefined) === (owner === undefined)) throw new UsageError('give a KEY, or --owner EMAIL');
  const namedKey = written === undefined ? undefined : toNamedKey(written, workspace);
  const deps = await openManagement(session, { writes: true });
  if (namedKey !== undefined) {
    const key = await readNamedKey(deps, namedKey);
    const { publicId } = key;
    const keyLabel = `key ${key.name} of ${key.workspace} (${publicId})`;
    const change = await revokeAll(session, deps, [key], keyLabel);
    for (const line of await endingNamesakes(session, deps, key)) session.terminal.writeError(line);
    return {
      json: { workspace: key.workspace, name: key.name, public_id: publicId, status: 'revoked', change },
      lines: () => [`${keyLabel} ${change === 'changed' ? 'is revoked' : 'was revoked before'}`],
    };
  }
  const keys = await collect(deps.keys.list());
  const active = keys.filter((key) => key.owner === owner && key.status === 'active');
  const keysLabel = `${active.length} keys of ${owner}`;
  const change = await revokeAll(session, deps, active, keysLabel);
  return {
    json: { owner, revoked: active.map((key) => key.publicId) },
    lines: () => [change === 'changed' ? `${keysLabel} are revoked` : `${owner} has no active key`],
  };
}

/** Returns lines about keys that a rotation replaced, because their name no longer identifies them. */
async function endingNamesakes(session: Session, { keys }: ManagementDependencies, revoked: KeyRecord) {
  const nowMs = session.clock.nowMs();
  return (await collect(keys.list())).flatMap((key) => {
    const isNamesake = key.workspace === revoked.workspace && key.name === revoked.name;
    const isAccepted = key.status === 'active' && key.replacedBy !== null && !isKeyExpired(key, nowMs);
    if (!isNamesake || !isAccepted || key.publicId === revoked.publicId) return [];
    const end = instantOf(key.expiresAtMs) ?? 'it is revoked';
    return [`note: ${key.publicId}, a former key of this name, is accepted until ${end}: keys revoke ${key.publicId}`];
  });
}

async function revokeAll(session: Session, deps: ManagementDependencies, keys: readonly KeyRecord[], named: string) {
  const active = keys.filter(({ status }) => status === 'active');
  if (active.length === 0) return 'unchanged';
  await confirm(session, `revoke ${named}`);
  for (const { publicId } of active) {
    await perform(deps, 'PATCH /keys/{public_id}', { names: { public_id: publicId }, body: { status: 'revoked' } });
  }
  return 'changed';
}

type Key = Documents['ManagedKey'];

const member = (name: keyof Key, column: Omit<Field<Key>, 'member' | 'value'> = {}): Field<Key> => ({
  member: name,
  value: (key) => key[name],
  ...column,
});

const alertText = ({ percent, is_delivered: isDelivered }: NonNullable<Key['last_alert']>): string =>
  `${percent} %${isDelivered ? '' : ', not delivered'}`;

const spending: readonly Field<Key>[] = [
  member('spent_usd', { title: 'spent USD', align: 'decimal' }),
  member('held_usd', { title: 'reserved USD', align: 'decimal' }),
  member('last_alert', { title: 'alert', leftOut: 0, shown: ({ last_alert: last }) => last && alertText(last) }),
];

/** Describes the fields of a key. Of its text only the public id is shown. */
export const keyFields: readonly Field<Key>[] = [
  member('workspace', { title: 'workspace', isFlexible: true }),
  member('name', { title: 'name', isFlexible: true }),
  member('public_id', { title: 'public id' }),
  member('status', { title: 'status', shown: ({ state }) => state }),
  member('state'),
  ...settingFields<Key>(keySettings).flatMap((field) =>
    field.member === 'expires_at' ? [...spending, field] : [field],
  ),
  member('owner'),
  member('replaced_by'),
];

const name: LineInput = input('--name <N>', 'body.name', readKeyName, 'what people call it');

const namedKeyOf = ({ names: { public_id: key = '' }, shown: { workspace } }: LineRequest) =>
  toNamedKey(key, workspace as string | undefined);

const keyInputs: readonly LineInput[] = [
  input('KEY', 'names.public_id', readText),
  input('--workspace <W>', 'shown.workspace', readId, workspaceOfName),
];

/** Defines a command whose key is identified by its name or its public id. */
const namesKey = {
  checks: (request: LineRequest) => void namedKeyOf(request),
  async resolves(request: LineRequest, deps: ManagementDependencies) {
    request.names.public_id = (await readNamedKey(deps, namedKeyOf(request))).publicId;
  },
};

const keyCommands: CallCommands<'keys'> = {
  'keys create': {
    summary: 'make an API key for a workspace and print it once',
    takes: [
      input('--workspace <W>', 'body.workspace', readId, 'the workspace that the key belongs to', {
        isRequired: true,
      }),
      { ...name, summary: 'what people call it; no other active key of the workspace has it', isRequired: true },
      ...settingOptions(keySettings, 'left out'),
    ],
    example: '--workspace team-a --name nightly --rpm 60 --spend-limit 5.00',
    notes: ['The key is stored as a hash only: copy it now, it cannot be shown again.'],
    shows: ({ data: { workspace, name, public_id, key, rpm, spend_limit_usd } }) => ({
      json: { workspace, name, public_id, key, rpm, spend_limit_usd },
      lines: () => [`key ${name} of ${workspace} (shown once):`, key],
    }),
  },
  'keys list': {
    takes: [
      input('--workspace <W>', 'query.workspace', readId, 'of this workspace only'),
      input('--owner <EMAIL>', 'query.owner', readOwner, 'those that this person made for themselves'),
      search,
      input('--usable', 'query.usable', undefined, 'those that are neither revoked nor expired'),
    ],
    example: '--workspace team-a',
    notes: ['Spending is counted on keys that have a limit; `usage --by key` shows it for every key.'],
    shows: shownList('keys', keyFields, 'there are no keys'),
  },
  'keys update': {
    summary: 'change the name, the limits or the rules of a key',
    takes: [...keyInputs, name, ...settingOptions(keySettings, 'none')],
    example: 'ci --workspace team-a --rpm 120 --expires 2099-01-01',
    notes: [
      keyNote,
      'What is not named stays; --tag replaces all tags of the key.',
      'Changes apply from the next request on; spending is counted from the day a limit is set.',
    ],
    ...namesKey,
    shows: ({ data }, { change }) => ({
      json: { change, ...fieldJson(keyFields, data) },
      lines: (style) => fieldTable(keyFields, [data], style),
    }),
  },
  'keys rotate': {
    takes: [
      ...keyInputs,
      input(
        '--grace <TIME>',
        'body.grace',
        readGrace,
        'how long the former key goes on: 90s, 15m, 24h, 7d; left out: 24h',
      ),
      input(
        '--expires <WHEN>',
        'body.expires_at',
        readExpires,
        `of the new key: ${expiresHint}, or none; left out: as the former`,
      ),
    ],
    example: 'ci --workspace team-a --grace 7d',
    notes: [
      keyNote,
      'The new key has the name, limits and rules of the former. The spending of both is counted together.',
      'From then on the name means the new key, in gateway files, exports and keys rotate.',
    ],
    ...namesKey,
    shows: ({ data: { workspace, name, public_id, key, expires_at, former } }) => ({
      json: { workspace, name, public_id, key, expires_at, former },
      lines: () => [
        `the former key ${former.public_id} ends ${former.expires_at}`,
        `key ${name} of ${workspace} (shown once):`,
        key,
      ],
    }),
  },
};

// Identifies a key for every command, by its name in a workspace or by its public id.

type KeyReference = { readonly publicId: string } | { readonly workspace: string; readonly name: string };

/** Returns the reference to a key. Throws UsageError. */
function toNamedKey(key: string, workspace: string | undefined): KeyReference {
  if (workspace !== undefined) return { workspace, name: readKeyName('KEY', key) };
  const publicId = publicIdIn(key);
  if (publicId !== undefined) return { publicId };
  throw new UsageError(
    'KEY is the 16 letters and digits behind sk-gw-, as the list shows them, or a name with --workspace',
  );
}

// Ends keys again whose end was lost because the tables were restored to an earlier moment (`keys reconcile`).

/** Parses a suffix; `none` selects the tables without a suffix. */
const readSuffix = (name: string, text: string): string => {
  if (text === 'none' || text === '') return '';
  if (/^[A-Za-z0-9_-]{1,40}$/.test(text)) return text;
  throw new UsageError(`${name} takes the suffix of tables, or none`);
};

function addReconcile(keys: CommandLine): void {
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
