// Which calls of DynamoDB each function makes on each table while it serves requests. Scanning, querying and creating
// tables is the operator's business; nobody deletes. What is missing here is an outage that only AWS shows: the test
// of this list runs the gateway and compares.
import { type TableName, tableNames } from '../../../shared/foundation/constants/index.ts';

export type TableAction = 'BatchWriteItem' | 'GetItem' | 'PutItem' | 'UpdateItem';
export type TableActions = Readonly<Partial<Record<TableName, readonly TableAction[]>>>;

export const chatTableActions = {
  config: ['GetItem'],
  keys: ['GetItem', 'UpdateItem'],
  connections: ['GetItem'],
  functions: ['GetItem'],
  ledger: ['GetItem', 'UpdateItem'],
  limits: ['GetItem', 'UpdateItem'],
  statistics: ['GetItem', 'PutItem', 'UpdateItem'],
  idempotency: ['PutItem', 'UpdateItem'],
  spans: ['PutItem', 'UpdateItem'],
  // A record is written once, and nothing that serves requests could read or change it afterwards.
  records: ['BatchWriteItem'],
  cache: ['GetItem', 'PutItem'],
} as const satisfies Record<TableName, readonly TableAction[]>;

export const modelsTableActions = {
  config: ['GetItem'],
  keys: ['GetItem'],
  // Whoever meets an old snapshot of the statistics makes the next one.
  statistics: ['GetItem', 'PutItem', 'UpdateItem'],
} as const satisfies TableActions;

/** In the order of shared/foundation/constants, tables without any action left out. */
export const tableActionsOf = (tables: TableActions) =>
  tableNames.flatMap((table) => {
    const actions = tables[table] ?? [];
    return actions.length === 0 ? [] : [{ table, actions }];
  });
