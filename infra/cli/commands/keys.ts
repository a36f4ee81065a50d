// `keys create | list | revoke | rotate | update`: API keys with their limits and what they have spent. A key is printed when it is made, the
// only time that its text is known.
import { readKeySpending } from '../../../shared/accounting/holds/index.ts';
import {
  createApiKey,
  holdersOf,
  holdsName,
  type KeyRecord,
  type KeyStore,
  parseApiKey,
} from '../../../shared/configuration/keys/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import { collect, mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import {
  readId,
  readKeyName,
  readOrNone,
  readPositiveInteger,
  readPublicId,
  readUsd,
  UsageError,
} from '../args/option-values.ts';
import { confirm, type Outcome, type Session } from '../args/session.ts';
import { isoTime } from '../output/format.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { readWorkspace, storesOn } from '../target/stores.ts';
import { expiresForm, type KeyRuleOptions, readExpires, readModels, readReset, toKeyRules } from './key-rules.ts';
import { addRotate } from './rotate.ts';

export function addKeys(program: CommandLine): void {
  const keys = program.command('keys').description('API keys');
  keys
    .command('create')
    .description('make an API key for a workspace and print it once')
    .requiresOption('--workspace <W>', 'the workspace that the key belongs to', readId)
    .requiresOption('--name <N>', 'what people call it; no other active key of the workspace has it', readKeyName)
    .takesOption('--rpm <N>', 'requests per minute; left out: no limit', readPositiveInteger)
    .takesOption('--spend-limit <USD>', 'what the key may spend; left out: no limit', readUsd)
    .takesOption('--spend-limit-reset <P>', 'daily, weekly or monthly (UTC): spending starts again', readReset)
    .takesOption('--expires <WHEN>', `${expiresForm}; left out: never`, readExpires)
    .takesOption('--models <IDS>', 'ids with commas between them; left out: all of the workspace', readModels)
    .notes('The key is stored as a hash only: what is not kept now cannot be shown again.')
    .does(createKey);
  keys
    .command('list')
    .description('every key with its limits and what it has spent')
    .takesOption('--workspace <W>', 'of this workspace only', readId)
    .notes('Spending is counted on keys that have a limit; `usage --by key` knows it of every key.')
    .does(listKeys);
  keys
    .command('revoke')
    .description('refuse a key from its next request on')
    .takesArgument('PUBLIC_ID', readPublicId)
    .asks()
    .notes('PUBLIC_ID is what keys list shows: the 16 characters behind sk-gw-.')
    .does(revokeKey);
  addRotate(keys);
  keys
    .command('update')
    .description('change the name, the limits or the rules of a key')
    .takesArgument('PUBLIC_ID', readPublicId)
    .takesOption('--name <N>', 'what people call it', readKeyName)
    .takesOption('--rpm <N>', 'requests per minute; none: no limit', readOrNone(readPositiveInteger))
    .takesOption('--spend-limit <USD>', 'what the key may spend; none: no limit', readOrNone(readUsd))
    .takesOption('--spend-limit-reset <P>', 'daily, weekly, monthly (UTC) or none', readReset)
    .takesOption('--expires <WHEN>', `${expiresForm}; none: never`, readExpires)
    .takesOption('--models <IDS>', 'ids with commas between them; all: all of the workspace', readModels)
    .notes(
      'What is not named stays. Changes count from the next request on; spending counts from the day a limit is set.',
    )
    .does(updateKey);
}

interface NewKey extends KeyRuleOptions {
  readonly workspace: string;
  readonly name: string;
  readonly rpm?: number | null;
  readonly spendLimit?: PicoUsd;
}

async function createKey(session: Session, wanted: NewKey): Promise<Outcome> {
  const { workspace, name, rpm = null, spendLimit } = wanted;
  const stores = storesOn((await session.open({ writes: true })).store);
  const { keys, workspaceStore } = stores;
  await readWorkspace(workspaceStore, workspace);
  const rules = await toKeyRules(session, stores, wanted);
  await checkName(session, keys, { workspace, name });
  const text = createApiKey(session.randomness);
  const parsed = parseApiKey(text);
  if (parsed === undefined) throw new Error('a key that was just made must be readable');
  const spendLimitUsd = spendLimit === undefined ? null : formatUsd(spendLimit);
  try {
    await keys.write({ ...parsed, workspace, name, rpm, spendLimitUsd, ...rules, status: 'active' });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new Error(`the store gave no answer; should keys list show ${parsed.publicId}, revoke it: its text is lost`);
  }
  return {
    json: { workspace, name, public_id: parsed.publicId, key: text, rpm, spend_limit_usd: spendLimitUsd },
    lines: () => [`key ${name} of ${workspace} (shown once):`, text],
  };
}

async function listKeys(session: Session, { workspace }: { readonly workspace?: string }): Promise<Outcome> {
  session.terminal.showProgress('reading keys …');
  const keys = await readKeys(storesOn((await session.open()).store).keys, session.clock.nowMs(), workspace);
  return {
    json: { keys: keys.map((key) => fieldJson(keyFields, key)) },
    lines: (style) => (keys.length === 0 ? ['there are no keys'] : fieldTable(keyFields, keys, style)),
  };
}

/** A revoked key stays in the list, and its spending counts. */
async function revokeKey(session: Session, publicId: string): Promise<Outcome> {
  const { keys } = storesOn((await session.open({ writes: true })).store);
  const record = await keys.read(publicId);
  if (record === undefined) throw new Error(`there is no key ${publicId}`);
  const { workspace, name } = record;
  const isRevoked = record.status === 'revoked';
  if (!isRevoked) {
    await confirm(session, `revoke key ${name} of ${workspace} (${publicId})`);
    await keys.write({ ...record, status: 'revoked' });
  }
  return {
    json: { workspace, name, public_id: publicId, status: 'revoked', change: isRevoked ? 'unchanged' : 'changed' },
    lines: () => [`key ${name} of ${workspace} (${publicId}) ${isRevoked ? 'was revoked before' : 'is revoked'}`],
  };
}

interface KeyUpdate extends KeyRuleOptions {
  readonly name?: string;
  readonly rpm?: number | 'none';
  readonly spendLimit?: PicoUsd | 'none';
}

async function updateKey(session: Session, publicId: string, update: KeyUpdate): Promise<Outcome> {
  const { name, rpm, spendLimit, spendLimitReset, expires, models } = update;
  if ([name, rpm, spendLimit, spendLimitReset, expires, models].every((member) => member === undefined)) {
    throw new UsageError(
      'say what to change: --name, --rpm, --spend-limit, --spend-limit-reset, --expires or --models',
    );
  }
  const stores = storesOn((await session.open({ writes: true })).store);
  const { keys } = stores;
  const rules = await toKeyRules(session, stores, update);
  const record = await keys.read(publicId);
  if (record === undefined) throw new Error(`there is no key ${publicId}`);
  const { status: _status, ...stored } = record;
  const wanted = {
    ...stored,
    ...(name === undefined ? {} : { name }),
    ...(rpm === undefined ? {} : { rpm: rpm === 'none' ? null : rpm }),
    ...(spendLimit === undefined ? {} : { spendLimitUsd: spendLimit === 'none' ? null : formatUsd(spendLimit) }),
    ...rules,
  };
  const willHold = holdsName({ ...record, ...wanted }, session.clock.nowMs());
  if (willHold) await checkName(session, keys, { ...wanted, publicId });
  // Without the status: a revocation at the same time stays.
  const change = await keys.write(wanted);
  const [shown] = (await readKeys(keys, session.clock.nowMs(), record.workspace)).filter(
    (key) => key.publicId === publicId,
  );
  return {
    json: { change, ...(shown === undefined ? {} : fieldJson(keyFields, shown)) },
    lines: (style) => (shown === undefined ? [] : fieldTable(keyFields, [shown], style)),
  };
}

/** Throws an Error for the operator where another active key of the workspace has the name. */
async function checkName(
  { clock }: Session,
  keys: KeyStore,
  wanted: Pick<KeyRecord, 'workspace' | 'name'> & { readonly publicId?: string },
): Promise<void> {
  const { workspace, name, publicId } = wanted;
  const holder = holdersOf(await collect(keys.list()), wanted, clock.nowMs()).find((one) => one.publicId !== publicId);
  if (holder === undefined) return;
  throw new Error(
    `${name} is taken in ${workspace} by the active key ${holder.publicId}: give another name, rotate that key (keys rotate ${name} --workspace ${workspace}) or revoke it`,
  );
}

/** A key with what it has spent and holds, as its own item says. */
export interface KeyFigures extends KeyRecord {
  /** Null without a spend limit: spending is then counted in the call records only. */
  readonly spent: PicoUsd | null;
  /** Of calls that run now; null as above. */
  readonly held: PicoUsd | null;
}

/** By workspace and name. */
export async function readKeys(keys: KeyStore, nowMs: number, workspace?: string): Promise<KeyFigures[]> {
  const all = await collect(keys.list());
  const records = all.filter((record) => workspace === undefined || record.workspace === workspace);
  const figures = await mapParallel(records, parallelReads, async (record) => {
    const item = (await keys.readItem(record.publicId)) ?? {};
    const { spent, held } = readKeySpending(item, nowMs) ?? { spent: null, held: null };
    return { ...record, spent, held };
  });
  return figures.sort((a, b) => compare(a.workspace, b.workspace) || compare(a.name, b.name));
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

const amountOf = (amount: PicoUsd | null): string | null => (amount === null ? null : formatUsd(amount));

/** No more of a key than its public id. */
export const keyFields: readonly Field<KeyFigures>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace },
  { member: 'name', title: 'name', isFlexible: true, value: ({ name }) => name },
  { member: 'public_id', title: 'public id', value: ({ publicId }) => publicId },
  {
    member: 'status',
    title: 'status',
    value: ({ status }) => status,
    shown: ({ status, replacedBy }) => (status === 'active' && replacedBy !== null ? 'ending' : status),
  },
  { member: 'rpm', title: 'rpm', align: 'right', value: ({ rpm }) => rpm },
  { member: 'spend_limit_usd', title: 'spend limit', align: 'decimal', value: ({ spendLimitUsd }) => spendLimitUsd },
  { member: 'spend_limit_reset', title: 'reset', value: ({ spendLimitReset }) => spendLimitReset },
  { member: 'spent_usd', title: 'spent USD', align: 'decimal', value: ({ spent }) => amountOf(spent) },
  { member: 'held_usd', title: 'held USD', align: 'decimal', value: ({ held }) => amountOf(held) },
  { member: 'expires_at', title: 'expires', value: ({ expiresAtMs }) => isoTime(expiresAtMs) },
  { member: 'models', title: 'models', isFlexible: true, value: ({ models }) => models },
  { member: 'replaced_by', value: ({ replacedBy }) => replacedBy },
];
