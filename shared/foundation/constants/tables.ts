// Lists the tables. The CDK app, the local run and the stores all read this list.

export interface TableDefinition {
  readonly partitionKey: string;
  /**
   * Sort key of a table with many items per partition. Such a table is written with `put` and read with `query` or one
   * item at a time.
   */
  readonly sortKey?: string;
  /** Attribute with epoch seconds. DynamoDB deletes late, so every reader also compares the time. */
  readonly timeToLiveAttribute?: string;
}

export const tableDefinitions = {
  /** Catalogue revisions, the pointer to the current one, and workspaces. */
  config: {
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  /** API keys by public id, with the hash of the secret, status and limits of each key. */
  keys: {
    partitionKey: 'pk',
  },
  /**
   * Operator keys by public id, with the hash of the secret, name and status of each key. They have a separate table,
   * so that no function may make one.
   */
  operators: {
    partitionKey: 'pk',
  },
  /**
   * Stored BYOK connections with encrypted keys, one item per workspace. They have a table of their own, so that few
   * roles may read it.
   */
  connections: {
    partitionKey: 'pk',
  },
  /** Stored functions by workspace and id, and in further items the contents of their revisions. */
  functions: {
    partitionKey: 'pk',
  },
  /** Credit of workspaces, one item per workspace and shard, with available, reserved and spent amounts. */
  ledger: {
    partitionKey: 'pk',
  },
  /** Request and token counters of limits, one item per set of windows and shard. */
  limits: {
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  /** Counters of latency and outcome, and the snapshot made from the counters. */
  statistics: {
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  /** Idempotency keys by hash, with the owner of the running call, then its answer. They expire after 24 hours. */
  idempotency: {
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  /**
   * Span ids by hash, used once per workspace, and the provider that stores a response; both expire after 30 days. Also
   * the secret of the store.
   */
  spans: {
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  /**
   * One record per call of a known key, including refused calls, with who, what, how long and how much. Records expire
   * after 90 days.
   */
  records: {
    partitionKey: 'pk',
    sortKey: 'sk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
  /** Cached answers; correctness never depends on this table. */
  cache: {
    partitionKey: 'pk',
    timeToLiveAttribute: 'expires_at_epoch_seconds',
  },
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof tableDefinitions;
export const tableNames = Object.keys(tableDefinitions) as TableName[];

/** Key in `spans` of the secret that all processes on a store share, and the purpose for which KMS wraps it. */
export const storeKeyItem = { key: 'STOREKEY', purpose: 'store-key' } as const;

/** Tables without point-in-time recovery, because their contents live a day at most, or are rebuilt automatically. */
export const unrecoveredTables: ReadonlySet<TableName> = new Set(['cache', 'idempotency', 'limits', 'statistics']);

/** Maps a table to its name in an account. */
export type NameTable = (table: TableName) => string;

/** Returns `gw-<stage>-<table>`, with the suffix of the restored tables for tables that can be restored. */
export const tableNaming =
  (stage: string, suffix = ''): NameTable =>
  (table) =>
    `gw-${stage}-${table}${unrecoveredTables.has(table) ? '' : suffix}`;

export const physicalTableName = (stage: string, table: TableName): string => tableNaming(stage)(table);

/**
 * Key of the item in `config` that every process reads every few seconds, and the attribute of this item with which
 * operators stop calls.
 */
export const cataloguePointerItem = { key: 'CATALOGUE', refusesCalls: 'refuses_calls' } as const;
