// The tables of a stage as DynamoDB describes them: cheap, and on AWS up to six hours old.
import { DescribeTableCommand, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { physicalTableName, type TableName, tableNames } from '../../shared/foundation/constants/index.ts';
import type { OpenTarget } from './open-target.ts';
import { mapParallel } from './parallel.ts';

export interface TableFacts {
  readonly table: TableName;
  /** As in the account. */
  readonly name: string;
  /** `ACTIVE` as a rule; undefined: there is no such table. */
  readonly status: string | undefined;
  readonly items: number | undefined;
  readonly bytes: number | undefined;
}

const parallelReads = 4;

/** Throws the client's error where the server cannot be reached or refuses. */
export const readTables = ({ client, stage }: Pick<OpenTarget, 'client' | 'stage'>): Promise<TableFacts[]> =>
  mapParallel(tableNames, parallelReads, async (table) => {
    const name = physicalTableName(stage, table);
    try {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
      return { table, name, status: Table?.TableStatus, items: Table?.ItemCount, bytes: Table?.TableSizeBytes };
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
      return { table, name, status: undefined, items: undefined, bytes: undefined };
    }
  });
