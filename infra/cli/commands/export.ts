// `export`: the gateway file of what is stored. No secret is in it: of keys there are only hashes, and keys of
// BYOK connections are named as the file named them. Applied to the store that it came from it changes nothing.
import { stringify } from 'yaml';
import { type OperatorStores, readWorkspaces } from '../../../shared/configuration/administration/index.ts';
import type { CatalogueDocument } from '../../../shared/configuration/catalogue/index.ts';
import { catalogueInFile } from '../../../shared/configuration/gateway-file/index.ts';
import { type KeyRecord, type WrittenKey, writtenKey } from '../../../shared/configuration/keys/index.ts';
import { loadModelList, type ModelList } from '../../../shared/configuration/model-list/index.ts';
import type { FunctionRecord } from '../../../shared/configuration/stored-functions/index.ts';
import { canonicalJson } from '../../../shared/foundation/ids/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import { collect } from '../../../shared/foundation/parallel/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import type { Outcome, Session } from '../args/session.ts';
import { escapeControls } from '../output/format.ts';
import { openAdministration, sealingStoresOn } from '../target/stores.ts';

export function addExport(program: CommandLine): void {
  program
    .command('export')
    .description('the gateway file (YAML) of what is stored, without secrets')
    .notes(
      'Applied to the same store it changes nothing; applied to another one it makes new keys.',
      'Revoked keys are left out. Keys of BYOK connections are named, as in the file that was applied: set those variables before it is applied elsewhere.',
    )
    .takesOption('--full', 'write out also what the kind of a provider and the model list fill in')
    .does(exportFile);
}

const lineWidth = 120;

async function exportFile(session: Session, { full: isFull = false }: { readonly full?: boolean }): Promise<Outcome> {
  const { store, stage, wrapper } = await session.open();
  const stores = await openAdministration(session);
  const { connectionStore } = sealingStoresOn(store, stage, wrapper);
  session.terminal.showProgress('reading what is stored …');
  const catalogue = await stores.catalogues.read();
  const keys = await collect(stores.keys.list());
  const functions = await collect(stores.functionStore.list());
  const workspaces: unknown[] = [];
  for (const workspace of await readWorkspaces(stores)) {
    const isOwn = ({ workspace: owner }: { readonly workspace: string }) => owner === workspace.id;
    const connections = (await connectionStore.read(workspace.id)).map(
      ({ provider, policy, budgetPicoUsd, keySource }) => ({
        provider,
        key: keySource ?? { env: variableName(workspace.id, provider) },
        policy,
        budget_usd: budgetPicoUsd === null ? null : formatUsd(budgetPicoUsd),
      }),
    );
    workspaces.push({
      ...(namesFirst(workspace) as object),
      keys: keysInFile(keys.filter(isOwn), session),
      byok: { connections },
      functions: await Promise.all(functions.filter(isOwn).map((record) => functionInFile(record, stores))),
    });
  }
  const access = await stores.access.read();
  const file = {
    ...(namesFirst(catalogueOf(catalogue, isFull ? undefined : await loadModelList())) as object),
    workspaces,
    ...(access.length === 0 ? {} : { access }),
  };
  return {
    json: file,
    lines: () => escapeControls(stringify(file, { lineWidth })).trimEnd().split('\n'),
  };
}

const catalogueOf = (catalogue: CatalogueDocument | undefined, list: ModelList | undefined) =>
  catalogue === undefined ? { providers: [], models: [] } : catalogueInFile(catalogue, list);

/** `BYOK_TEAM_A_ACME`: for a connection that was stored before its source was kept. */
const variableName = (workspace: string, provider: string): string =>
  `BYOK_${workspace}_${provider}`.toUpperCase().replace(/[^A-Z0-9]/g, '_');

/** A file tells keys apart by their name: several active ones of one name are one entry, if they have the same limits. */
function keysInFile(records: readonly KeyRecord[], { terminal }: Session): unknown[] {
  const active = records.filter(({ status, replacedBy }) => status === 'active' && replacedBy === null);
  const byName = Map.groupBy(active, ({ name }) => name);
  return [...byName].flatMap(([name, namesakes]) => {
    const entries = namesakes.map((record) => {
      return Object.fromEntries(Object.entries(writtenKey(record)).filter(isTold));
    });
    if (new Set(entries.map(canonicalJson)).size === 1) return entries.slice(0, 1);
    terminal.writeError(`note: keys ${name} of ${namesakes[0]?.workspace} differ in their limits and are left out`);
    return [];
  });
}

/** Only active keys are exported. Limits are always told, of all else only what is not as it would be anyway. */
const untold: Readonly<Partial<WrittenKey>> = {
  status: 'active',
  concurrency: null,
  spend_limit_reset: null,
  expires_at: null,
  models: 'all',
  tags: {},
};
const isTold = ([member, value]: readonly [string, unknown]): boolean =>
  !(member in untold) || canonicalJson(untold[member as keyof WrittenKey]) !== canonicalJson(value);

async function functionInFile(
  record: FunctionRecord,
  { functionStore }: Pick<OperatorStores, 'functionStore'>,
): Promise<unknown> {
  const { id, kind, status, active, revisions } = record;
  const contents = await Promise.all(
    [...revisions.values()].map(async (revision) => {
      const { kind: _kind, ...content } = (await functionStore.readContent(record, revision)).content;
      return { id: revision.id, state: revision.state, ...content };
    }),
  );
  return { id, kind, status, active, revisions: contents };
}

const nameMembers = ['id', 'slug', 'version', 'provider', 'display_name', 'service', 'providers', 'models'];

/** Documents are stored with their members in alphabetical order; in the file the name comes first. */
function namesFirst(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(namesFirst);
  if (typeof value !== 'object' || value === null) return value;
  const names = nameMembers.filter((name) => Object.hasOwn(value, name));
  const entries = Object.entries(value).map(([name, member]) => [name, namesFirst(member)] as const);
  return Object.fromEntries([...names.map((name) => [name, undefined] as const), ...entries]);
}
