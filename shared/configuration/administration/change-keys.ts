// Makes, changes and revokes API keys. Only the code that makes a key knows its text.
import { type LastShareAlert, readLastShare } from '../../accounting/alerts/index.ts';
import { readKeySpending } from '../../accounting/holds/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { collect, mapParallel, parallelReads } from '../../foundation/parallel/index.ts';
import { isKeyExpired, type KeyRecord, type KeyWrite, newApiKey } from '../keys/index.ts';
import { withoutUndefined } from '../value-forms/index.ts';
import { ChangeFailed, refuseUnansweredKey } from './change-failed.ts';
import { checkGuardrails, modelIdsOf, readWorkspace } from './change-workspaces.ts';
import { checkContentLog, checkKeyEnd, type KeyChanges, writeKey } from './key-rules.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<
  AdministrationDependencies,
  'keys' | 'catalogues' | 'workspaceStore' | 'clock' | 'randomness' | 'cell'
>;

interface WantedNewKey extends KeyChanges {
  readonly workspace: string;
  readonly name: string;
  /** Called with the public id of the new key before the key is made. Throws if the key may not be made. */
  readonly claim?: ((publicId: string) => Promise<void>) | undefined;
}

export interface NewKey {
  readonly publicId: string;
  /** Text of the key, which is stored nowhere, so show it once. */
  readonly text: string;
}

/** Makes a key. Throws ChangeFailed. */
export async function createKey(deps: Dependencies, { claim, ...wanted }: WantedNewKey): Promise<NewKey> {
  const workspace = await readWorkspace(deps, wanted.workspace);
  const { models: workspaceModels } = workspace;
  checkKeyEnd(deps, wanted);
  checkContentLog(workspace, wanted);
  const models = await modelIdsOf(deps, wanted.models, workspaceModels);
  await checkGuardrails(deps, wanted.guardrails);
  const { text, publicId, secretSha256 } = newApiKey(deps.randomness, deps.cell);
  await claim?.(publicId);
  const record = { ...wanted, ...models, publicId, secretSha256, status: 'active' } as const;
  await writeKey(deps.keys, undefined, record, deps.clock.nowMs()).catch(refuseUnansweredKey('keys', publicId));
  return { publicId, text };
}

/** Returns the key. Throws ChangeFailed if there is none. */
export async function readKey({ keys }: Pick<Dependencies, 'keys'>, publicId: string): Promise<KeyRecord> {
  const record = await keys.read(publicId);
  if (record === undefined) throw new ChangeFailed('absent', `there is no key ${publicId}`);
  return record;
}

/** Applies all changes, or none if ChangeFailed is thrown. Changes take effect from the next request on. */
export async function updateKey(
  deps: Dependencies,
  publicId: string,
  changes: KeyChanges & Partial<Pick<KeyRecord, 'status'>>,
): Promise<{ readonly change: KeyWrite; readonly key: KeyFigures }> {
  checkKeyEnd(deps, changes);
  const storedKey = await readKey(deps, publicId);
  const dependsOnWorkspace = changes.models != null || changes.contentLog != null;
  const owner = dependsOnWorkspace ? await deps.workspaceStore.read(storedKey.workspace) : undefined;
  if (owner !== undefined) checkContentLog(owner, changes);
  const models = await modelIdsOf(deps, changes.models, owner?.models);
  await checkGuardrails(deps, changes.guardrails);
  const { publicId: id, workspace, secretSha256, name } = storedKey;
  const nextKey = { name, ...withoutUndefined(changes), ...models, publicId: id, workspace, secretSha256 };
  const change = await writeKey(deps.keys, storedKey, nextKey, deps.clock.nowMs());
  return { change, key: await readFigures(deps, await readKey(deps, publicId)) };
}

// Keys with the amounts they have spent, read from their own items.

type Readers = Pick<Dependencies, 'keys' | 'clock'>;

export interface KeyFigures extends KeyRecord {
  /** Amount spent since the last reset, with a spend limit or without. */
  readonly spent: PicoUsd;
  /** Amount reserved by running calls; 0 without a spend limit. */
  readonly held: PicoUsd;
  readonly lastAlert: LastShareAlert | null;
  /** True if the key's `expiresAtMs` has passed. */
  readonly isExpired: boolean;
}

/** Returns every key, or the keys of one workspace, sorted by workspace and name. */
export async function readKeys({ keys, clock }: Readers, workspace?: string): Promise<KeyFigures[]> {
  const all = await collect(keys.list());
  const records = all.filter((record) => workspace === undefined || record.workspace === workspace);
  const figures = await mapParallel(records, parallelReads, (record) => readFigures({ keys, clock }, record));
  return figures.sort((a, b) => compare(a.workspace, b.workspace) || compare(a.name, b.name));
}

export async function readFigures({ keys, clock }: Readers, record: KeyRecord): Promise<KeyFigures> {
  const item = (await keys.readItem(record.publicId)) ?? {};
  const nowMs = clock.nowMs();
  const { spent, held } = readKeySpending(item, nowMs);
  return { ...record, spent, held, lastAlert: readLastShare(item), isExpired: isKeyExpired(record, nowMs) };
}

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
