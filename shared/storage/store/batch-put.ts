// Unconditional writes of whole items, many in one request.

import { physicalTableName } from '../../foundation/constants/index.ts';
import { type AttributeMap, toAttributes } from './attribute-values.ts';
import type { DynamoOutput } from './dynamodb-client.ts';
import type { BatchPut } from './store.ts';

/** What DynamoDB takes in one batch. */
const batchItemsMax = 25;

type PutWrite = { readonly PutRequest: { readonly Item: AttributeMap } };
/** The writes of one batch by the name of their table. */
export type BatchWrites = Record<string, PutWrite[]>;

export const batchInputs = (stage: string, puts: readonly BatchPut[]): BatchWrites[] =>
  Array.from({ length: Math.ceil(puts.length / batchItemsMax) }, (_, index) => {
    const batch = puts.slice(index * batchItemsMax, (index + 1) * batchItemsMax);
    const byTable = Object.groupBy(batch, ({ table }) => physicalTableName(stage, table));
    return Object.fromEntries(
      Object.entries(byTable).map(([table, some = []]) => [
        table,
        some.map(({ item }): PutWrite => ({ PutRequest: { Item: toAttributes(item) } })),
      ]),
    );
  });

/** What DynamoDB leaves for later of a batch, as it does with a call that it throttles. */
export const unprocessedOf = ({ UnprocessedItems }: DynamoOutput): BatchWrites =>
  (UnprocessedItems ?? {}) as BatchWrites;
