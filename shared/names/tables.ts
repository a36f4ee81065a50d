// The tables, once: the CDK app, the local run and the stores all read this list.

export interface TableDefinition {
  /** What the table holds and why it is a table of its own. */
  readonly purpose: string;
  readonly partitionKey: string;
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
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof tableDefinitions;
export const tableNames = Object.keys(tableDefinitions) as TableName[];

/** The name of a table in an account: `gw-<stage>-<table>`. */
export const physicalTableName = (stage: string, table: TableName): string => `gw-${stage}-${table}`;
