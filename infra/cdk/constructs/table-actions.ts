// Lists the DynamoDB calls that each function makes on each table while it serves requests. An action that is missing
// in this list fails only on AWS, so test/infra/permissions.test.ts compares the list with the calls of a running
// gateway.
import { type TableName, tableNames } from '../../../shared/foundation/constants/index.ts';

export type TableAction = 'GetItem' | 'PutItem' | 'UpdateItem' | 'BatchWriteItem' | 'Query' | 'Scan';
export type TableActions = Readonly<Partial<Record<TableName, readonly TableAction[]>>>;

export const gatewayTableActions = {
  config: ['GetItem'],
  keys: ['GetItem', 'UpdateItem'],
  connections: ['GetItem'],
  functions: ['GetItem'],
  ledger: ['GetItem', 'UpdateItem'],
  limits: ['GetItem', 'UpdateItem'],
  statistics: ['GetItem', 'PutItem', 'UpdateItem'],
  idempotency: ['PutItem', 'UpdateItem'],
  spans: ['BatchWriteItem', 'GetItem', 'PutItem', 'UpdateItem'],
  // Records are written once. GET /v1/generation reads a record by its complete key, and no request lists, queries or
  // changes records.
  records: ['BatchWriteItem', 'GetItem'],
  cache: ['GetItem', 'PutItem'],
} as const satisfies TableActions;

export const modelsTableActions = {
  config: ['GetItem'],
  keys: ['GetItem'],
  // This table shows for which providers a workspace has keys. The keys are encrypted, and this function may not
  // decrypt them.
  connections: ['GetItem'],
  // The list of a workspace's functions is read.
  functions: ['GetItem'],
  // A process that finds an old snapshot of the statistics creates the next one.
  statistics: ['GetItem', 'PutItem', 'UpdateItem'],
} as const satisfies TableActions;

export const operatorTableActions = {
  // These are workspaces, and the pointer of the catalogue, which changes if a provider is switched on or off.
  config: ['GetItem', 'PutItem', 'Scan'],
  keys: ['GetItem', 'PutItem', 'Scan', 'UpdateItem'],
  // An owner of all workspaces creates and revokes operators.
  operators: ['GetItem', 'PutItem', 'Scan'],
  // Policies and budgets of BYOK connections are in the gateway file. The keys of connections are encrypted, and this
  // function may not decrypt them.
  connections: ['GetItem', 'PutItem'],
  functions: ['GetItem', 'PutItem', 'Scan', 'UpdateItem'],
  ledger: ['GetItem', 'UpdateItem'],
  limits: ['GetItem'],
  statistics: ['GetItem'],
  records: ['GetItem', 'Query'],
} as const satisfies TableActions;

/**
 * Returns the IAM rights that an action takes. Simultaneous updates are sent together, as statements of PartiQL, which
 * have a right of their own (shared/storage/dynamodb-store/shared-updates.ts).
 */
export const rightsOf = (action: string): string[] =>
  action === 'UpdateItem' ? ['dynamodb:UpdateItem', 'dynamodb:PartiQLUpdate'] : [`dynamodb:${action}`];

/** Combines the actions of several functions. */
export const tablesOfAll = (...all: readonly TableActions[]): TableActions =>
  Object.fromEntries(
    tableNames.map((table) => [table, [...new Set(all.flatMap((actions) => actions[table] ?? []))].toSorted()]),
  );

/** Returns the tables in the order of shared/foundation/constants, without tables that have no action. */
export const tableActionsOf = (tables: TableActions) =>
  tableNames.flatMap((table) => {
    const actions = tables[table] ?? [];
    return actions.length === 0 ? [] : [{ table, actions }];
  });
