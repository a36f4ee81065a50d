// What a stage holds of the resources that a file names, beside what the file says of them: the two sides of a comparison,
// both in the file's own words. No secret is in either: keys and credentials are compared elsewhere, by whoever may.

import { formatUsd } from '../../foundation/money/index.ts';
import type { KeyRecord } from '../keys/index.ts';
import type { FunctionStore, ShownFunction } from '../stored-functions/index.ts';
import { keepCredit } from '../workspaces/index.ts';
import { type ConfigurationStores, catalogueOf, documentOf } from './apply.ts';
import type { PlannedKey } from './apply-keys.ts';
import type { GatewayFile, WorkspaceInFile } from './gateway-file.ts';

export interface RehearsalStores extends ConfigurationStores {
  readonly functionStore: Pick<FunctionStore, 'check' | 'apply' | 'show'>;
}

export interface DocumentPair {
  /** As reports name it. */
  readonly resource: string;
  /** Undefined: there is none yet. */
  readonly former: unknown;
  readonly next: unknown;
}

export async function pairDocuments(
  file: GatewayFile,
  keys: readonly PlannedKey[],
  stores: RehearsalStores,
): Promise<DocumentPair[]> {
  const pairs: DocumentPair[] = [await pairCatalogue(file, stores)];
  for (const workspace of file.workspaces) {
    pairs.push(await pairWorkspace(workspace, stores), ...(await pairConnections(workspace, stores)));
    for (const declared of workspace.functions) {
      const shown = await stores.functionStore.show(workspace.id, declared.id);
      pairs.push(pairFunction(`function ${declared.id} of ${workspace.id}`, declared, shown));
    }
  }
  for (const { record } of keys) {
    const stored = await stores.keys.read(record.publicId);
    const resource = `key ${record.name} of ${record.workspace}`;
    const { status = stored?.status ?? 'active' } = record;
    pairs.push({ resource, former: stored && settingsOf(stored), next: settingsOf({ ...record, status }) });
  }
  return pairs;
}

async function pairCatalogue(file: GatewayFile, { catalogues }: RehearsalStores): Promise<DocumentPair> {
  const version = await catalogues.readVersion();
  const former = version === undefined ? undefined : await catalogues.readBody(version);
  return { resource: 'catalogue', former, next: catalogueOf(file) };
}

async function pairWorkspace(workspace: WorkspaceInFile, { workspaceStore }: RehearsalStores): Promise<DocumentPair> {
  const former = await workspaceStore.read(workspace.id);
  return { resource: `workspace ${workspace.id}`, former, next: keepCredit(documentOf(workspace), former) };
}

async function pairConnections(workspace: WorkspaceInFile, stores: RehearsalStores): Promise<DocumentPair[]> {
  const stored = await stores.connectionStore.read(workspace.id);
  return workspace.byok.connections.map(({ provider, policy, budget_usd }) => {
    const former = stored.find((connection) => connection.provider === provider);
    const budget = former?.budgetPicoUsd ?? null;
    return {
      resource: `byok connection to ${provider} of ${workspace.id}`,
      former: former && { policy: former.policy, budget_usd: budget === null ? null : formatUsd(budget) },
      next: { policy, budget_usd },
    };
  });
}

const settingsOf = ({ name, status, rpm, spendLimitUsd }: KeyRecord) => ({
  name,
  status,
  rpm,
  spend_limit_usd: spendLimitUsd,
});

type DeclaredFunction = WorkspaceInFile['functions'][number];

/** Of the revisions that the file names: others stay as they are. */
function pairFunction(resource: string, declared: DeclaredFunction, shown: ShownFunction | undefined): DocumentPair {
  const { id: _id, revisions, ...head } = declared;
  if (shown === undefined) return { resource, former: undefined, next: { ...head, revisions } };
  const { record, contents } = shown;
  const isActivated = (id: string) => record.revisions.get(id)?.state === 'activated';
  return {
    resource,
    former: {
      kind: record.kind,
      status: record.status,
      active: record.active,
      revisions: revisions.flatMap(({ id }) => {
        const state = record.revisions.get(id)?.state;
        const { kind: _kind, ...content } = contents.get(id) ?? {};
        return state === undefined ? [] : [{ id, state, ...content }];
      }),
    },
    // What was activated never becomes a draft again.
    next: {
      ...head,
      revisions: revisions.map((revision) =>
        isActivated(revision.id) ? { ...revision, state: 'activated' } : revision,
      ),
    },
  };
}
