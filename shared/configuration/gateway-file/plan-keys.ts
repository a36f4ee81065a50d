// Finds the keys that a file describes. An item with a text means the key with that text. An item without a text means
// the key with this name in the workspace, which is made if there is none.
import type { Randomness } from '../../foundation/ids/index.ts';
import {
  changedSettings,
  fromWrittenKey,
  holdersOf,
  isSameKey,
  type KeyRecord,
  type KeyStore,
  newApiKey,
  parseApiKey,
  takesName,
  type WantedKey,
} from '../keys/index.ts';
import type { GatewayFile, KeyInFile } from './gateway-file.ts';
import { formatPath, type Issue, type Path, quote } from './problems.ts';

interface PlannedKey {
  readonly former: KeyRecord | undefined;
  readonly wanted: WantedKey;
  /** Text of a key that is made here; absent for other keys. */
  readonly createdText?: string;
}

interface KeyPlan {
  readonly keys: readonly PlannedKey[];
  readonly issues: readonly Issue[];
  /** Keys that cannot be changed as the file asks, one line each. */
  readonly notes: readonly string[];
  /** Keys that are revoked, and that the file does not revoke. */
  readonly revokedKeys: readonly string[];
}

interface KeyPlanOptions {
  readonly file: GatewayFile;
  readonly placeOf: (path: Path) => Path;
  readonly keys: KeyStore;
  readonly randomness: Randomness;
  readonly cell?: string | undefined;
  readonly nowMs: number;
  /** True if a revoked key stays revoked whatever the file says. */
  readonly keepsRevoked: boolean;
}

export async function planKeys({
  file,
  placeOf,
  keys,
  randomness,
  cell,
  nowMs,
  keepsRevoked,
}: KeyPlanOptions): Promise<KeyPlan> {
  const wantedKeys = file.workspaces.flatMap((workspace, index) =>
    workspace.keys.map((key, position) => ({
      key,
      workspace: workspace.id,
      path: ['workspaces', index, 'keys', position] as const,
    })),
  );
  const storedKeys: KeyRecord[] = [];
  if (wantedKeys.length > 0) for await (const record of keys.list()) storedKeys.push(record);
  const issues: Issue[] = [];
  const planned: PlannedKey[] = [];
  const [notes, revokedKeys]: [string[], string[]] = [[], []];
  for (const { key: written, workspace, path } of wantedKeys) {
    // Without a status a key keeps its own, and a new key is active.
    const key = keepsRevoked && written.status === 'active' ? { ...written, status: undefined } : written;
    const found =
      key.key === undefined
        ? planNamed(key, { workspace, path }, storedKeys, () => newApiKey(randomness, cell))
        : await planWritten(key, key.key, workspace, { keys, stored: storedKeys, nowMs }, path);
    if ('message' in found) {
      issues.push(found);
      continue;
    }
    planned.push(...found);
    if (written.status !== 'revoked' && found.some(({ former }) => former?.status === 'revoked')) {
      revokedKeys.push(`key ${key.name} of ${workspace}`);
    }
    notes.push(...found.flatMap(({ former }) => (former === undefined ? [] : describeReplaced(former))));
    const isEnded = ({ former, wanted: { expiresAtMs = null } }: PlannedKey) =>
      expiresAtMs !== null && expiresAtMs <= nowMs && expiresAtMs !== former?.expiresAtMs;
    if (found.some(isEnded)) {
      notes.push(`${formatPath(placeOf(path))}.expires_at is in the past: every call with key ${key.name} is refused`);
    }
    const limitOf = ({ former, wanted: { spendLimitUsd = former?.spendLimitUsd ?? null } }: PlannedKey) =>
      spendLimitUsd;
    if (written.spend_limit_reset != null && found.some((one) => limitOf(one) === null)) {
      notes.push(`${formatPath(placeOf(path))}.spend_limit_reset has no effect on a key without spend_limit_usd`);
    }
  }
  return { keys: planned, issues, notes, revokedKeys };
}

async function planWritten(
  key: KeyInFile,
  text: string,
  workspace: string,
  { keys, stored, nowMs }: Pick<KeyPlanOptions, 'keys' | 'nowMs'> & { readonly stored: readonly KeyRecord[] },
  path: Path,
): Promise<PlannedKey[] | Issue> {
  const keyInFile = { ...parse(text), workspace, name: key.name };
  const former = await keys.read(keyInFile.publicId);
  if (former !== undefined && !isSameKey(former, keyInFile)) {
    const message = `this key already exists (${keyInFile.publicId}) with another secret or in another workspace`;
    return { path: [...path, 'key'], message };
  }
  const holder = holdersOf(stored, keyInFile, nowMs).find(({ publicId }) => publicId !== keyInFile.publicId);
  const nextKey = { ...keyInFile, ...settingsIn(key, former) };
  if (holder !== undefined && takesName(former, nextKey, nowMs)) {
    const message = `${quote(key.name)} is already taken in ${workspace} by the active key ${holder.publicId}; revoke that one first (gw keys revoke), or give this one another name`;
    return { path: [...path, 'name'], message };
  }
  return [{ former, wanted: nextKey }];
}

/** Describes a rotated key. The expiry that a rotation gave it stays, whatever the file says. */
function describeReplaced({ name, workspace, publicId, replacedBy, expiresAtMs }: KeyRecord): string[] {
  if (replacedBy === null) return [];
  const end = expiresAtMs === null ? '' : ` and ends ${new Date(expiresAtMs).toISOString()}`;
  return [`the file gives the key ${publicId}, which was rotated${end}: ${name} of ${workspace} is ${replacedBy} now`];
}

function planNamed(
  key: KeyInFile,
  { workspace, path }: { readonly workspace: string; readonly path: Path },
  stored: readonly KeyRecord[],
  makeKey: () => ReturnType<typeof newApiKey>,
): PlannedKey[] | Issue {
  // Rotated keys only wait for their expiry.
  const sameNamed = stored.filter(
    (record) => record.workspace === workspace && record.name === key.name && record.replacedBy === null,
  );
  if (sameNamed.length === 0) {
    const { text: createdText, publicId, secretSha256 } = makeKey();
    const wanted = { publicId, secretSha256, workspace, name: key.name, ...settingsIn(key, undefined) };
    return [{ former: undefined, wanted, createdText }];
  }
  // Revoked keys keep their name. Settings apply to active keys, and never reactivate an older key.
  const active = sameNamed.filter(({ status }) => status === 'active');
  if (active.length === 0 && sameNamed.length > 1 && key.status === 'active') {
    const message =
      `${sameNamed.length} keys of this name were revoked, and the file does not say which one comes back: ` +
      'leave status out, or give the key';
    return { path: [...path, 'status'], message };
  }
  const planned = (active.length > 0 ? active : sameNamed).map((former) => {
    const { publicId, secretSha256, name } = former;
    return { former, wanted: { publicId, workspace, secretSha256, name, ...settingsIn(key, former) } };
  });
  if (active.length > 0) return planned;
  // The first is the key that the file has revoked before, so that a second run changes no other key.
  const [first] = planned;
  return [planned.find(({ former, wanted }) => changedSettings(former, wanted).length === 0) ?? first].flatMap(
    (one) => one ?? [],
  );
}

function parse(text: string) {
  const parsed = parseApiKey(text);
  if (parsed === undefined) throw new Error('a key of a checked file must be readable');
  return parsed;
}

function settingsIn(key: KeyInFile, former: KeyRecord | undefined) {
  const { name: _name, status, expiresAtMs, ...settings } = fromWrittenKey(key);
  return {
    ...settings,
    // A rotation has set its expiry.
    expiresAtMs: former?.replacedBy != null ? undefined : expiresAtMs,
    // Undefined if the status is unchanged, because a key that is revoked while the file is being applied stays
    // revoked.
    status: status === former?.status ? undefined : status,
  };
}
