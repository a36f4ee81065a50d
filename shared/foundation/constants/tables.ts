// The tables, once: the CDK app, the local run and the stores all read this list.

export interface TableDefinition {
  /** Contents of the table, and why it is a table of its own. */
  readonly purpose: string;
  readonly partitionKey: string;
  /**
   * Sort key of a table with many items in one partition. Such a table is written with `put` and read with `query` or
   * one item at a time.
   */
  readonly sortKey?: string;
  /** Attribute with epoch seconds. DynamoDB deletes late, so every reader compares it too. */
  readonly timeToLiveAttribute?: string;
}

export const tableDefinitions = {
  config: {
    purpose: 'catalogue revisions, the pointer to the current one, and workspaces',
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  keys: {
    purpose: 'API keys by public id: the hash of the secret, status and limits',
    partitionKey: 'pk',
  },
  operators: {
    purpose:
      'operator keys by public id: the hash of the secret, name and status; apart, so that no function may make one',
    partitionKey: 'pk',
  },
  connections: {
    purpose: 'stored BYOK connections with sealed keys, one item per workspace; apart, so that few may read it',
    partitionKey: 'pk',
  },
  functions: {
    purpose: 'stored functions by workspace and id, and apart from them the contents of their revisions',
    partitionKey: 'pk',
  },
  ledger: {
    purpose: 'credit of workspaces, one item per workspace and shard: what is left, what is held, what was spent',
    partitionKey: 'pk',
  },
  limits: {
    purpose: 'request and token counters of providers, one item per window set and shard',
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  statistics: {
    purpose: 'counters of latency and outcome, and the snapshot made from them',
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  idempotency: {
    purpose: 'idempotency keys by hash: who runs the call, then its answer; kept 24 hours',
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  spans: {
    purpose:
      'span ids by hash, used once per workspace, and which provider keeps a response; kept 30 days; the secret of the store',
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  records: {
    purpose: 'one record per call of a known key, refused ones too: who, what, how long, how much; kept 90 days',
    partitionKey: 'pk',
    sortKey: 'sk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  cache: {
    purpose: 'answers that may be given again; nothing here is needed to be right',
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof tableDefinitions;
export const tableNames = Object.keys(tableDefinitions) as TableName[];

/** Key in `spans` of the secret that all processes on a store share, and the purpose for which KMS wraps it. */
export const storeKeyItem = { key: 'STOREKEY', purpose: 'store-key' } as const;

/** Without point-in-time recovery: their contents live a day at most, or are rebuilt by themselves. */
export const unrecoveredTables: ReadonlySet<TableName> = new Set(['cache', 'idempotency', 'limits', 'statistics']);

/** Maps a table to its name in an account. */
export type NameTable = (table: TableName) => string;

/** `gw-<stage>-<table>`, with the suffix of the restored tables for those that can be restored. */
export const tableNaming =
  (stage: string, suffix = ''): NameTable =>
  (table) =>
    `gw-${stage}-${table}${unrecoveredTables.has(table) ? '' : suffix}`;

export const physicalTableName = (stage: string, table: TableName): string => tableNaming(stage)(table);

/** Item in `config` that every process reads within seconds. Operators stop calls with it. */
export const cataloguePointerItem = { key: 'CATALOGUE', refusesCalls: 'refuses_calls' } as const;
