// `keys create | list | revoke | rotate | update`: API keys with their limits and what they have spent. A key is printed when it is made, the
// only time that its text is known.
import {
  createKey,
  type KeyFigures,
  readKey,
  readKeys,
  revokeKey,
  updateKey,
} from '../../../shared/configuration/administration/index.ts';
import { type WrittenKey, writtenKey } from '../../../shared/configuration/keys/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readKeyName, readOwner, readPublicId, UsageError } from '../args/option-values.ts';
import { confirm, type Outcome, type Session } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';
import { type KeyOptions, keyOptions, toKeyChanges } from './key-options.ts';
import { addReconcile } from './reconcile.ts';
import { addRotate } from './rotate.ts';

export function addKeys(program: CommandLine): void {
  const keys = program.command('keys').description('API keys');
  const create = keys
    .command('create')
    .description('make an API key for a workspace and print it once')
    .requiresOption('--workspace <W>', 'the workspace that the key belongs to', readId)
    .requiresOption('--name <N>', 'what people call it; no other active key of the workspace has it', readKeyName);
  keyOptions(create, 'left out')
    .notes('The key is stored as a hash only: what is not kept now cannot be shown again.')
    .does(createOne);
  keys
    .command('list')
    .description('every key with its limits and what it has spent')
    .takesOption('--workspace <W>', 'of this workspace only', readId)
    .notes('Spending is counted on keys that have a limit; `usage --by key` knows it of every key.')
    .takesOption('--owner <EMAIL>', 'those that this person made for themselves', readOwner)
    .does(list);
  keys
    .command('revoke')
    .description('refuse a key from its next request on')
    .takesArgument('[PUBLIC_ID]', readPublicId)
    .takesOption('--owner <EMAIL>', 'in place of PUBLIC_ID: all keys that this person made for themselves', readOwner)
    .asks()
    .notes('PUBLIC_ID is what keys list shows: the 16 characters behind sk-gw-.')
    .does(revoke);
  addRotate(keys);
  addReconcile(keys);
  const update = keys
    .command('update')
    .description('change the name, the limits or the rules of a key')
    .takesArgument('PUBLIC_ID', readPublicId)
    .takesOption('--name <N>', 'what people call it', readKeyName);
  keyOptions(update, 'none')
    .notes(
      'What is not named stays; --tag stands in place of all that the key has.',
      'Changes count from the next request on; spending counts from the day a limit is set.',
    )
    .does(updateOne);
}

interface NewKeyOptions extends KeyOptions {
  readonly workspace: string;
  readonly name: string;
}

async function createOne(session: Session, options: NewKeyOptions): Promise<Outcome> {
  const { workspace, name } = options;
  const changes = toKeyChanges(session, options);
  const { rpm = null, spendLimitUsd = null } = changes;
  const administration = await openAdministration(session, { writes: true });
  const { publicId, text } = await createKey(administration, { ...changes, workspace, name });
  return {
    json: { workspace, name, public_id: publicId, key: text, rpm, spend_limit_usd: spendLimitUsd },
    lines: () => [`key ${name} of ${workspace} (shown once):`, text],
  };
}

interface ListOptions {
  readonly workspace?: string;
  readonly owner?: string;
}

async function list(session: Session, { workspace, owner }: ListOptions): Promise<Outcome> {
  session.terminal.showProgress('reading keys …');
  const all = await readKeys(await openAdministration(session), workspace);
  const keys = all.filter((key) => owner === undefined || key.owner === owner);
  return {
    json: { keys: keys.map((key) => fieldJson(keyFields, key)) },
    lines: (style) => (keys.length === 0 ? ['there are no keys'] : fieldTable(keyFields, keys, style)),
  };
}

async function revoke(
  session: Session,
  publicId: string | undefined,
  { owner }: { readonly owner?: string },
): Promise<Outcome> {
  if ((publicId === undefined) === (owner === undefined)) throw new UsageError('give a PUBLIC_ID, or --owner EMAIL');
  return publicId === undefined ? revokeAllOf(session, owner ?? '') : revokeOne(session, publicId);
}

/** Of a person who has left, for example. */
async function revokeAllOf(session: Session, owner: string): Promise<Outcome> {
  const administration = await openAdministration(session, { writes: true });
  const keys = (await readKeys(administration)).filter((key) => key.owner === owner && key.status === 'active');
  if (keys.length > 0) await confirm(session, `revoke ${keys.length} keys of ${owner}`);
  for (const key of keys) await revokeKey(administration, key);
  return {
    json: { owner, revoked: keys.map(({ publicId: id }) => id) },
    lines: () => [keys.length === 0 ? `${owner} has no active key` : `${keys.length} keys of ${owner} are revoked`],
  };
}

async function revokeOne(session: Session, publicId: string): Promise<Outcome> {
  const administration = await openAdministration(session, { writes: true });
  const record = await readKey(administration, publicId);
  const { workspace, name } = record;
  const isRevoked = record.status === 'revoked';
  if (!isRevoked) {
    await confirm(session, `revoke key ${name} of ${workspace} (${publicId})`);
    await revokeKey(administration, record);
  }
  return {
    json: { workspace, name, public_id: publicId, status: 'revoked', change: isRevoked ? 'unchanged' : 'changed' },
    lines: () => [`key ${name} of ${workspace} (${publicId}) ${isRevoked ? 'was revoked before' : 'is revoked'}`],
  };
}

async function updateOne(session: Session, publicId: string, options: KeyOptions): Promise<Outcome> {
  const changes = toKeyChanges(session, options);
  if (Object.values(changes).every((value) => value === undefined)) {
    throw new UsageError('say what to change: see keys update --help');
  }
  const administration = await openAdministration(session, { writes: true });
  const { change, key } = await updateKey(administration, publicId, changes);
  return {
    json: { change, ...fieldJson(keyFields, key) },
    lines: (style) => fieldTable(keyFields, [key], style),
  };
}

/** What a gateway file says of a key, in its words. */
const setting = (member: keyof WrittenKey, column: Omit<Field<KeyFigures>, 'member' | 'value'>): Field<KeyFigures> => ({
  member,
  value: (key) => writtenKey(key)[member],
  ...column,
});

/** No more of a key than its public id. */
export const keyFields: readonly Field<KeyFigures>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace },
  setting('name', { title: 'name', isFlexible: true }),
  { member: 'public_id', title: 'public id', value: ({ publicId }) => publicId },
  setting('status', {
    title: 'status',
    shown: ({ status, isExpired, replacedBy }) => {
      if (status !== 'active') return status;
      return isExpired ? 'expired' : replacedBy === null ? status : 'ending';
    },
  }),
  setting('rpm', { title: 'rpm', align: 'right' }),
  setting('concurrency', { title: 'at once', align: 'right', leftOut: 2 }),
  setting('spend_limit_usd', { title: 'spend limit', align: 'decimal' }),
  setting('spend_limit_reset', { title: 'reset' }),
  { member: 'spent_usd', title: 'spent USD', align: 'decimal', value: ({ spent }) => formatUsd(spent) },
  { member: 'held_usd', title: 'held USD', align: 'decimal', value: ({ held }) => formatUsd(held) },
  setting('expires_at', { title: 'expires' }),
  { member: 'models', title: 'models', isFlexible: true, value: ({ models }) => models },
  setting('tags', { title: 'tags', isFlexible: true, leftOut: 1 }),
  { member: 'owner', value: ({ owner }) => owner },
  { member: 'replaced_by', value: ({ replacedBy }) => replacedBy },
];
