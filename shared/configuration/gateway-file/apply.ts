// Brings a stage to what a checked file says: catalogue, workspaces, keys. Applying a file twice writes nothing the
// second time. Workspaces and keys that the file does not name are left alone; providers and models are not.

import type { CreditLedger } from '../../accounting/credit/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { applyConnections, type ConnectionChange, type ConnectionStore } from '../byok/index.ts';
import type { CatalogueStore } from '../catalogue/index.ts';
import type { KeyStore } from '../keys/index.ts';
import type { FunctionStore } from '../stored-functions/index.ts';
import type { WorkspaceDocument, WorkspaceStore } from '../workspaces/index.ts';
import { planKeys } from './apply-keys.ts';
import type { GatewayFile, WorkspaceInFile } from './gateway-file.ts';

/** A runtime has them all. */
export interface ConfigurationStores {
  readonly catalogues: CatalogueStore;
  readonly workspaceStore: WorkspaceStore;
  readonly keys: KeyStore;
  readonly credit: Pick<CreditLedger, 'create'>;
  readonly connectionStore: ConnectionStore;
  readonly functionStore: Pick<FunctionStore, 'check' | 'apply'>;
}

export interface ResourceChange {
  /** `catalogue`, `workspace team-a`, `key ci of team-a`. */
  readonly resource: string;
  readonly change: ConnectionChange['change'];
}

/** A key that was made here. Its text is nowhere else: whoever gets this report shows it, once. */
export interface CreatedKey {
  readonly workspace: string;
  readonly name: string;
  readonly key: string;
}

export interface ApplyReport {
  readonly changes: ResourceChange[];
  readonly createdKeys: CreatedKey[];
  /** Keys of BYOK connections that were not stored now, one line each. */
  readonly skipped: string[];
}

export interface ApplyOptions {
  readonly file: GatewayFile;
  readonly stores: ConfigurationStores;
  /** The value of a variable that the file names: keys of BYOK connections. */
  readonly readVariable: (name: string) => string | undefined;
  readonly randomness: Randomness;
  readonly nowMs: number;
}

/**
 * What was done before something failed. The keys in it may have been stored and cannot be made again: show them. Applying the
 * file once more does the rest.
 */
export class ApplyInterrupted extends Error {
  override readonly name = 'ApplyInterrupted';
  readonly report: ApplyReport;
  constructor(report: ApplyReport, cause: unknown) {
    super(`the file was applied in part: ${cause instanceof Error ? cause.message : 'unknown failure'}`, { cause });
    this.report = report;
  }
}

/**
 * Throws an Error before anything is written when the store cannot become what the file says: a key is taken, credit shards
 * would go, an activated revision would change. ApplyInterrupted after that.
 */
export async function applyGatewayFile({
  file,
  stores,
  readVariable,
  randomness,
  nowMs,
}: ApplyOptions): Promise<ApplyReport> {
  const keys = await planKeys(file, stores.keys, randomness);
  for (const workspace of file.workspaces) {
    await stores.workspaceStore.check(documentOf(workspace));
    for (const declared of workspace.functions) await stores.functionStore.check(workspace.id, declared, nowMs);
  }
  const report: ApplyReport = { changes: [], createdKeys: [], skipped: [] };
  try {
    const { change } = await stores.catalogues.write(catalogueOf(file), nowMs);
    report.changes.push({ resource: 'catalogue', change });
    for (const workspace of file.workspaces) {
      const resource = `workspace ${workspace.id}`;
      // Credit before the workspace: whoever finds the one must find the other.
      const isNew = (await stores.workspaceStore.read(workspace.id)) === undefined;
      if (isNew) await stores.credit.create(workspace.id, parseUsd(workspace.credit_usd) ?? 0n);
      report.changes.push({ resource, change: await stores.workspaceStore.write(documentOf(workspace)) });
      const applied = await applyConnections({ workspace, connections: stores.connectionStore, readVariable });
      for (const { resource: name, change } of applied.changes) report.changes.push({ resource: name, change });
      report.skipped.push(...applied.skipped);
      for (const declared of workspace.functions) {
        const change = await stores.functionStore.apply(workspace.id, declared, nowMs);
        report.changes.push({ resource: `function ${declared.id} of ${workspace.id}`, change });
      }
    }
    for (const { record, createdText } of keys) {
      const { name, workspace } = record;
      // Handed on before it is written: a write whose answer is lost may still have been done.
      if (createdText !== undefined) report.createdKeys.push({ workspace, name, key: createdText });
      report.changes.push({ resource: `key ${name} of ${workspace}`, change: await stores.keys.write(record) });
    }
  } catch (error) {
    throw new ApplyInterrupted(report, error);
  }
  return report;
}

export const catalogueOf = ({ service, providers, models }: GatewayFile) => ({ service, providers, models });

export function documentOf({
  keys: _keys,
  byok: _byok,
  functions: _functions,
  ...document
}: WorkspaceInFile): WorkspaceDocument {
  return document;
}
