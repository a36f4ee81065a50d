// Reads a connection as a gateway file writes it, with its key from the environment. A variable that is not set is
// never an error: the policy of the connection applies, and a key that was stored earlier stays.
import { parseUsd } from '../../foundation/money/index.ts';
import type { ConnectionPolicy } from './connection.ts';
import type { WantedConnection } from './connection-store.ts';

/** A connection in a file; absent fields keep their stored values. */
export interface ConnectionInFile {
  readonly provider: string;
  /** `absent` means that the connection is removed, with its key. */
  readonly state?: 'absent' | undefined;
  readonly key?: { readonly env: string } | { readonly secret: string } | undefined;
  readonly policy?: ConnectionPolicy | undefined;
  readonly budget_usd?: string | null | undefined;
}

interface ReadConnection {
  readonly wanted: WantedConnection;
  /** Reason why a key that the file names is not stored now. It never contains a value. */
  readonly skippedKey: string | undefined;
}

/** Matches characters that a header may contain, as for `x-byok-key`. */
const keyShape = /^[\x21-\x7e]{1,1024}$/;

export function readConnection(
  { provider, state, key: reference, policy, budget_usd }: ConnectionInFile,
  readVariable: ((name: string) => string | undefined) | undefined,
): ReadConnection {
  const { key, reason } = state === 'absent' ? {} : readKey(reference, readVariable);
  const connection = {
    provider,
    isRemoved: state === 'absent',
    policy,
    budgetPicoUsd: readBudget(budget_usd),
    key,
    keySource: reference,
  };
  return { wanted: connection, skippedKey: reason };
}

function readKey(
  reference: ConnectionInFile['key'],
  readVariable: ((name: string) => string | undefined) | undefined,
): { key?: string; reason?: string } {
  if (reference === undefined) return {};
  if (!('env' in reference)) return { reason: `secret ${reference.secret} is not read here` };
  if (readVariable === undefined) {
    return {
      reason: `${reference.env} is not read here: apply the file with the command line where the variable is set`,
    };
  }
  const value = readVariable(reference.env);
  if (value === undefined || value === '') return { reason: `${reference.env} is not set` };
  return keyShape.test(value)
    ? { key: value }
    : { reason: `${reference.env} does not hold 1 to 1024 visible ASCII characters` };
}

function readBudget(written: string | null | undefined) {
  if (written === undefined || written === null) return written;
  const budget = parseUsd(written);
  if (budget === undefined) throw new Error('a budget of a checked file must be readable');
  return budget;
}
