// Converts calls of the store's interface to the inputs of DynamoDB's operations. The conversion is pure and sends
// nothing.
import {
  type NameTable,
  type TableDefinition,
  type TableName,
  tableDefinitions,
} from '../../foundation/constants/index.ts';
import type { BatchPut, Item, Put, QueryOptions, SortedTableName, Update } from '../store/index.ts';
import { attributesOf, type ItemAttributes } from './attribute-values.ts';
import { renderExpressions } from './expressions.ts';

export function getInput(nameOf: NameTable, table: TableName, key: string, sortKeyValue?: string) {
  const { partitionKey, sortKey }: TableDefinition = tableDefinitions[table];
  const Key: ItemAttributes = { [partitionKey]: { S: key } };
  if (sortKey !== undefined && sortKeyValue !== undefined) Key[sortKey] = { S: sortKeyValue };
  return { TableName: nameOf(table), Key, ConsistentRead: true };
}

export const deleteInput = (nameOf: NameTable, table: TableName, key: string) => ({
  TableName: nameOf(table),
  Key: { [tableDefinitions[table].partitionKey]: key },
});

export const putInput = (nameOf: NameTable, put: Put) =>
  ({
    TableName: nameOf(put.table),
    Item: attributesOf(put.item),
    ...renderExpressions(undefined, put.condition),
    ...itemOnFailure,
    ReturnValues: put.returnOld === true ? 'ALL_OLD' : 'NONE',
  }) as const;

export const updateInput = (nameOf: NameTable, update: Update) =>
  ({
    TableName: nameOf(update.table),
    Key: { [tableDefinitions[update.table].partitionKey]: { S: update.key } },
    ...renderExpressions(update.changes, update.condition),
    ...itemOnFailure,
    ReturnValues: update.returnsNoItem === true ? 'NONE' : update.returnOld === true ? 'ALL_OLD' : 'ALL_NEW',
  }) as const;

/** Maximum number of items of a batch, which is DynamoDB's limit. */
const batchItemsMax = 25;

type PutWrite = { readonly PutRequest: { readonly Item: ItemAttributes } };
/** The writes of one batch by the name of their table. */
export type BatchWrites = Record<string, PutWrite[]>;

export const batchInputs = (nameOf: NameTable, puts: readonly BatchPut[]): BatchWrites[] =>
  Array.from({ length: Math.ceil(puts.length / batchItemsMax) }, (_, index) => {
    const batch = puts.slice(index * batchItemsMax, (index + 1) * batchItemsMax);
    const writesOf = (puts: readonly BatchPut[]) =>
      puts.map(({ item }): PutWrite => ({ PutRequest: { Item: attributesOf(item) } }));
    const byTable = Object.groupBy(batch, ({ table }) => nameOf(table));
    return Object.fromEntries(Object.entries(byTable).map(([table, puts = []]) => [table, writesOf(puts)]));
  });

export const scanInput = (nameOf: NameTable, table: TableName, startAfter: Item | undefined) => ({
  TableName: nameOf(table),
  ConsistentRead: true,
  ...(startAfter === undefined ? {} : { ExclusiveStartKey: startAfter }),
});

/**
 * Maximum number of items of a query's page. A page must arrive within the 800 ms of a call while three other pages are
 * being sent.
 */
const queryPageItemsMax = 250;

export function queryInput(
  nameOf: NameTable,
  table: SortedTableName,
  key: string,
  { attributes = [], ...range }: Pick<QueryOptions, 'from' | 'to' | 'attributes'>,
  startAfter: Item | undefined,
) {
  const { partitionKey, sortKey } = tableDefinitions[table];
  const condition = rangeCondition(range);
  // Every name gets an alias, because it may be a word that DynamoDB's expressions reserve.
  const aliases = attributes.map((name, at) => [`#a${at}`, name] as const);
  return {
    TableName: nameOf(table),
    ConsistentRead: true,
    Limit: queryPageItemsMax,
    KeyConditionExpression: condition === undefined ? '#pk = :pk' : `#pk = :pk AND ${condition}`,
    ExpressionAttributeNames: {
      '#pk': partitionKey,
      ...(condition === undefined ? {} : { '#sk': sortKey }),
      ...Object.fromEntries(aliases),
    },
    ...(aliases.length === 0 ? {} : { ProjectionExpression: aliases.map(([alias]) => alias).join(', ') }),
    ExpressionAttributeValues: {
      ':pk': key,
      ...(range.from === undefined ? {} : { ':from': range.from }),
      ...(range.to === undefined ? {} : { ':to': range.to }),
    },
    ...(startAfter === undefined ? {} : { ExclusiveStartKey: startAfter }),
  };
}

/** Returns the condition on the sort key. DynamoDB allows one such condition, not two. */
function rangeCondition({ from, to }: Pick<QueryOptions, 'from' | 'to'>): string | undefined {
  if (from !== undefined && to !== undefined) return '#sk BETWEEN :from AND :to';
  if (from !== undefined) return '#sk >= :from';
  return to === undefined ? undefined : '#sk <= :to';
}

/** Makes a refused write return the item, so that the loser of a race needs no second call. */
const itemOnFailure = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
