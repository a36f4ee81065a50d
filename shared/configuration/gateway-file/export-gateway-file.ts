// Exports the store as a gateway file. It contains no secret: of keys there are only limits, and keys of BYOK
// connections are named as the file named them. Applied to the same store it changes nothing.
import { canonicalJson } from '../../foundation/ids/index.ts';
import { formatUsd } from '../../foundation/money/index.ts';
import { collect } from '../../foundation/parallel/index.ts';
import { type OperatorStores, readWorkspaces } from '../administration/index.ts';
import type { ConnectionStore } from '../byok/index.ts';
import type { CatalogueDocument } from '../catalogue/index.ts';
import {
  contentLogFault,
  effectiveContentLog,
  initialKey,
  type KeyRecord,
  type WrittenKey,
  writtenKey,
} from '../keys/index.ts';
import { loadModelList } from '../model-list/index.ts';
import type { FunctionRecord } from '../stored-functions/index.ts';
import type { WorkspaceDocument } from '../workspaces/index.ts';
import { catalogueInFile } from './catalogue-in-file.ts';
import { leaveOutMissing } from './without-missing.ts';
import { yamlText } from './yaml-text.ts';

interface ExportStores extends Pick<OperatorStores, 'workspaceStore' | 'keys' | 'access'> {
  readonly functionStore: Pick<OperatorStores['functionStore'], 'list' | 'readContent'>;
  readonly connectionStore: Pick<ConnectionStore, 'read'>;
}

interface ExportedFile {
  readonly file: Readonly<Record<string, unknown>>;
  /** Stored data that no file can contain, one line each. */
  readonly notes: readonly string[];
}

/** `isFull`: includes the values that the kind of a provider and the model list fill in. */
export async function exportGatewayFile(
  stores: ExportStores,
  catalogue: CatalogueDocument | undefined,
  { isFull = false }: { readonly isFull?: boolean } = {},
): Promise<ExportedFile> {
  const keys = await collect(stores.keys.list());
  const functions = await collect(stores.functionStore.list());
  const notes: string[] = [];
  const workspaces: unknown[] = [];
  for (const workspace of await readWorkspaces(stores)) {
    const isOwn = ({ workspace: owner }: { readonly workspace: string }) => owner === workspace.id;
    const exportedFunctions = functions.filter(isOwn).sort((a, b) => (a.id < b.id ? -1 : 1));
    workspaces.push({
      ...(namesFirst(workspace) as object),
      keys: keysInFile(keys.filter(isOwn), workspace, notes),
      byok: { connections: await connectionsInFile(stores, workspace.id) },
      functions: await Promise.all(exportedFunctions.map((record) => functionInFile(record, stores))),
    });
  }
  notes.push(...leaveOutMissing({ workspaces }, catalogue));
  const access = await stores.access.read();
  const written =
    catalogue === undefined
      ? { providers: [], models: [] }
      : catalogueInFile(catalogue, isFull ? undefined : await loadModelList());
  const file = { ...(namesFirst(written) as object), workspaces, ...(access.length === 0 ? {} : { access }) };
  return { file, notes };
}

export const gatewayFileText = (file: ExportedFile['file']): string => yamlText(file);

const connectionsInFile = async ({ connectionStore }: ExportStores, workspace: string) =>
  (await connectionStore.read(workspace)).map(({ provider, policy, budgetPicoUsd, keySource }) => ({
    provider,
    key: keySource ?? { env: variableName(workspace, provider) },
    policy,
    budget_usd: formatUsd(budgetPicoUsd),
  }));

/** `BYOK_TEAM_A_ACME`: for a connection that was stored before its source was kept. */
const variableName = (workspace: string, provider: string): string =>
  `BYOK_${workspace}_${provider}`.toUpperCase().replace(/[^A-Z0-9]/g, '_');

/** A file identifies keys by their name: several active ones of one name are one item, if they have the same limits. */
function keysInFile(records: readonly KeyRecord[], workspace: WorkspaceDocument, notes: string[]): unknown[] {
  const active = records.filter(({ status, replacedBy }) => status === 'active' && replacedBy === null);
  const byName = Map.groupBy(active, ({ name }) => name);
  const names = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  return names.flatMap(([name, namesakes]) => {
    const lostNames = namesakes.flatMap(({ contentLog }) => narrowingLost(workspace, contentLog) ?? []);
    if (lostNames.length > 0) {
      notes.push(`key ${name} of ${workspace.id} is left out, and stays as it is stored: its ${lostNames[0]}`);
      return [];
    }
    const entries = namesakes.map((record) =>
      Object.fromEntries(Object.entries(writtenKey(withEffect(record, workspace))).filter(isTold)),
    );
    if (new Set(entries.map(canonicalJson)).size === 1) return entries.slice(0, 1);
    notes.push(`keys ${name} of ${namesakes[0]?.workspace} differ in their limits and are left out`);
    return [];
  });
}

/** Why the content log of a key would be a fault in a file, where it narrows that of its workspace all the same. */
function narrowingLost(
  { content_log: ofWorkspace }: WorkspaceDocument,
  ofKey: KeyRecord['contentLog'],
): string | undefined {
  const fault = contentLogFault(ofWorkspace, ofKey);
  if (fault === undefined) return undefined;
  const isNarrower = canonicalJson(effectiveContentLog(ofWorkspace, ofKey)) !== canonicalJson(ofWorkspace);
  return isNarrower ? `content_log.${fault.member} ${fault.message}` : undefined;
}

/** A workspace that was narrowed later leaves keys that would be a fault in a file: left out, they stay as they are. */
const withEffect = (record: KeyRecord, { content_log }: WorkspaceDocument): KeyRecord =>
  contentLogFault(content_log, record.contentLog) === undefined ? record : { ...record, contentLog: null };

/** Fields that are always written; others only where they differ from their default. */
const alwaysExported: readonly string[] = ['name', 'rpm', 'spend_limit_usd'] satisfies (keyof WrittenKey)[];
const isTold = ([member, value]: readonly [string, unknown]): boolean =>
  alwaysExported.includes(member) || canonicalJson(initialKey[member as keyof WrittenKey]) !== canonicalJson(value);

async function functionInFile(record: FunctionRecord, { functionStore }: ExportStores): Promise<unknown> {
  const { id, kind, status, active, revisions } = record;
  const contents = await Promise.all(
    [...revisions.values()].map(async (revision) => {
      const { kind: _kind, ...content } = (await functionStore.readContent(record, revision)).content;
      return { id: revision.id, state: revision.state, ...content };
    }),
  );
  return { id, kind, status, active, revisions: contents };
}

const nameMembers = ['id', 'from', 'slug', 'version', 'provider', 'display_name', 'service', 'providers', 'models'];

/** Documents are stored with their fields in alphabetical order; in the file the name comes first. */
function namesFirst(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(namesFirst);
  if (typeof value !== 'object' || value === null) return value;
  const names = nameMembers.filter((name) => Object.hasOwn(value, name));
  const entries = Object.entries(value).map(([name, member]) => [name, namesFirst(member)] as const);
  return Object.fromEntries([...names.map((name) => [name, undefined] as const), ...entries]);
}
