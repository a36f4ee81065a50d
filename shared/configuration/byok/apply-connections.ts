// Brings the stored connections of one workspace to what its gateway file says. A variable that is not set is never an
// error (contract 11): the policy of its connection holds, and a key that was stored earlier stays.
import { parseUsd } from '../../foundation/money/index.ts';
import type { ConnectionPolicy } from './connection.ts';
import type { ConnectionChange, ConnectionStore, WantedConnection } from './connection-store.ts';

/** A connection as the file writes it, checked. */
export interface ConnectionInFile {
  readonly provider: string;
  readonly key: { readonly env: string } | { readonly secret: string };
  readonly policy: ConnectionPolicy;
  readonly budget_usd: string | null;
}

/** The part of a workspace of the file that matters here. */
export interface ConnectionsInFile {
  readonly id: string;
  readonly byok: { readonly connections: readonly ConnectionInFile[] };
}

export interface ApplyConnectionsOptions {
  readonly workspace: ConnectionsInFile;
  readonly connections: ConnectionStore;
  /** The value of a variable of the environment that the file names. */
  readonly readVariable: (name: string) => string | undefined;
}

export interface ConnectionsReport {
  readonly changes: readonly { readonly resource: string; readonly change: ConnectionChange['change'] }[];
  /** Connections whose key was not stored now, one line each with the reason. Never holds a value. */
  readonly skipped: readonly string[];
}

/** What a header may carry, as for `x-byok-key` (contract 2). */
const keyShape = /^[\x21-\x7e]{1,1024}$/;

/** Applying twice writes nothing the second time. Throws like `ConnectionStore.write`. */
export async function applyConnections(options: ApplyConnectionsOptions): Promise<ConnectionsReport> {
  const { workspace, connections, readVariable } = options;
  const resourceOf = (provider: string) => `byok connection to ${provider} of ${workspace.id}`;
  const skipped: string[] = [];
  const wanted = workspace.byok.connections.map((written): WantedConnection => {
    const { key, reason } = readKey(written, readVariable);
    if (reason !== undefined) skipped.push(`the key of the ${resourceOf(written.provider)} is skipped: ${reason}`);
    return { provider: written.provider, policy: written.policy, budgetPicoUsd: readBudget(written), key };
  });
  const changes = await connections.write(workspace.id, wanted);
  return { changes: changes.map(({ provider, change }) => ({ resource: resourceOf(provider), change })), skipped };
}

interface KeyRead {
  readonly key: string | undefined;
  /** Why there is none. */
  readonly reason?: string;
}

function readKey({ key }: ConnectionInFile, readVariable: (name: string) => string | undefined): KeyRead {
  if (!('env' in key)) return { key: undefined, reason: `secret ${key.secret} is not read here` };
  const value = readVariable(key.env);
  if (value === undefined || value === '') return { key: undefined, reason: `${key.env} is not set` };
  if (keyShape.test(value)) return { key: value };
  return { key: undefined, reason: `${key.env} does not hold 1 to 1024 visible ASCII characters` };
}

function readBudget({ budget_usd: written }: ConnectionInFile) {
  if (written === null) return null;
  const budget = parseUsd(written);
  if (budget === undefined) throw new Error('a budget of a checked file must be readable');
  return budget;
}
