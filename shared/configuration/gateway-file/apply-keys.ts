// Which key records a file asks for. A key with a text is that key; one without is found by workspace and name, and
// made when there is none. Reads only, so that a conflict is known before anything is written.

import type { Randomness } from '../../foundation/ids/index.ts';
import { createApiKey, isSameKey, type KeyRecord, type KeyStore, parseApiKey, type WantedKey } from '../keys/index.ts';
import type { GatewayFile, KeyInFile } from './gateway-file.ts';
import { formatPath } from './problems.ts';

export interface PlannedKey {
  readonly record: WantedKey;
  /** Only for a key that is made here. */
  readonly createdText?: string;
}

export async function planKeys(file: GatewayFile, keys: KeyStore, randomness: Randomness): Promise<PlannedKey[]> {
  const wanted = file.workspaces.flatMap((workspace, index) =>
    workspace.keys.map((key, position) => ({
      key,
      workspace: workspace.id,
      path: formatPath(['workspaces', index, 'keys', position]),
    })),
  );
  const stored = wanted.some(({ key }) => key.key === undefined) ? await readAll(keys) : [];
  const planned: PlannedKey[] = [];
  for (const { key, workspace, path } of wanted) {
    if (key.key !== undefined) planned.push(await planGiven(key, key.key, workspace, keys, path));
    else planned.push(...planNamed(key, workspace, stored, randomness, path));
  }
  return planned;
}

async function readAll(keys: KeyStore): Promise<KeyRecord[]> {
  const records: KeyRecord[] = [];
  for await (const record of keys.list()) records.push(record);
  return records;
}

async function planGiven(
  key: KeyInFile,
  text: string,
  workspace: string,
  keys: KeyStore,
  path: string,
): Promise<PlannedKey> {
  const record = recordFrom(key, text, workspace);
  const former = await keys.read(record.publicId);
  if (former !== undefined && !isSameKey(former, record)) {
    throw new Error(`${path}.key: this key already exists with another secret or in another workspace`);
  }
  return { record: { ...record, status: statusToSet(key, former) } };
}

function planNamed(
  key: KeyInFile,
  workspace: string,
  stored: readonly KeyRecord[],
  randomness: Randomness,
  path: string,
): PlannedKey[] {
  const named = stored.filter((record) => record.workspace === workspace && record.name === key.name);
  if (named.length === 0) {
    const createdText = createApiKey(randomness);
    return [{ record: recordFrom(key, createdText, workspace), createdText }];
  }
  // After a rotation several keys have the name. Settings go to those in use, and never bring an older one back.
  const active = named.filter(({ status }) => status === 'active');
  if (active.length === 0 && named.length > 1 && key.status === 'active') {
    throw new Error(
      `${path}.status: ${named.length} keys of this name were revoked, and which one shall come back is not said: ` +
        'leave status out, or give the key',
    );
  }
  const chosen = active.length > 0 ? active : named.slice(0, 1);
  return chosen.map((former) => ({ record: { ...former, ...limitsOf(key), status: statusToSet(key, former) } }));
}

function recordFrom(key: KeyInFile, text: string, workspace: string): WantedKey {
  const parsed = parseApiKey(text);
  if (parsed === undefined) throw new Error('a key of a checked file must be readable');
  return { ...parsed, workspace, name: key.name, status: key.status, ...limitsOf(key) };
}

const limitsOf = ({ rpm, spend_limit_usd }: KeyInFile) => ({ rpm, spendLimitUsd: spend_limit_usd });

/** Undefined where it stands already: who revokes the key while the file is being applied is not overruled. */
const statusToSet = ({ status }: KeyInFile, former: KeyRecord | undefined): KeyRecord['status'] | undefined =>
  status === former?.status ? undefined : status;
