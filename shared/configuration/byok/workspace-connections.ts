// Finds the effect of stored connections on one call. Pure, because the planner decides the outcome, and its error
// code.
import type { WorkspaceDocument } from '../workspaces/index.ts';
import type { Connection, ConnectionPolicy } from './connection.ts';

/** A connection as the planner sees it, without its sealed key. */
export interface PlannedConnection {
  readonly provider: string;
  readonly policy: ConnectionPolicy;
  /** True if a key is stored. Without a key the policy still applies, and the connection serves no call. */
  readonly isAuthorised: boolean;
}

interface WorkspaceConnections {
  readonly connections: readonly PlannedConnection[];
  /**
   * Returns the connection whose key to open and whose budget to quote when this provider is called. It always has a
   * key.
   */
  connectionTo(provider: string): Connection | undefined;
}

/** Returns the connections for plain calls. Stored connections have no effect if BYOK is not enabled. */
export function workspaceConnections(
  { features }: Pick<WorkspaceDocument, 'features'>,
  stored: readonly Connection[],
): WorkspaceConnections {
  const applicable = features.byok ? stored : [];
  return {
    connections: applicable.map(({ provider, policy, sealed }) => ({
      provider,
      policy,
      isAuthorised: sealed !== undefined,
    })),
    connectionTo: (provider) => applicable.find((known) => known.provider === provider && known.sealed !== undefined),
  };
}

/**
 * True for function calls that fail with function_requires_managed_funding: with a key header always, with a stored
 * connection if BYOK is enabled.
 */
export const requiresManagedFunding = (
  byokKey: string | undefined,
  { features }: Pick<WorkspaceDocument, 'features'>,
  stored: readonly Connection[],
): boolean => byokKey !== undefined || (features.byok && stored.some(({ policy }) => policy === 'always'));
