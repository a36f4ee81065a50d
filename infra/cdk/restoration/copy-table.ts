// Makes a table hold what another one holds: reads both in segments at the same time, and writes only what differs. Items
// are copied as DynamoDB writes them, so that no number is rounded.
import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue, DynamoDBClient, WriteRequest } from '@aws-sdk/client-dynamodb';
import { groups, pagesOf, readAll, readsPerCall, type StoredItem, writeAll } from './table-pages.ts';

/** Segments of a table at a time: a page of each is held, of 1 MB at most. */
const segmentsDefault = 16;

export interface Tables {
  readonly from: string;
  readonly to: string;
  /** Partition key, and sort key where there is one. */
  readonly keyNames: readonly string[];
  readonly rules?: CopyRules;
  readonly segments?: number;
}

export interface CopyRules {
  /** Partition keys that stay as they are. */
  readonly kept?: readonly string[];
  /** What is written in place of the item as it was, by what stands there now. */
  readonly merge?: (former: StoredItem, now: StoredItem | undefined) => StoredItem;
  /** Of items that were not there: whether they go. Left out: all of them. `attributes` are read beside the key. */
  readonly surplus?: { readonly attributes: readonly string[]; readonly goes: (item: StoredItem) => boolean };
}

export interface Copied {
  readonly read: number;
  readonly written: number;
  readonly deleted: number;
}

/** May be repeated at any point. */
export async function copyTable(client: Pick<DynamoDBClient, 'send'>, tables: Tables): Promise<Copied> {
  const { segments = segmentsDefault } = tables;
  const inSegments = (work: (segment: Segment) => Promise<Copied>) =>
    Promise.all(Array.from({ length: segments }, (_, Segment) => work({ Segment, TotalSegments: segments })));
  const copied = await inSegments((segment) => copySegment(client, tables, segment));
  const deleted = await inSegments((segment) => deleteSurplus(client, tables, segment));
  return [...copied, ...deleted].reduce((sum, one) => ({
    read: sum.read + one.read,
    written: sum.written + one.written,
    deleted: sum.deleted + one.deleted,
  }));
}

interface Segment {
  readonly Segment: number;
  readonly TotalSegments: number;
}

async function copySegment(
  client: Pick<DynamoDBClient, 'send'>,
  { from, to, keyNames, rules = {} }: Tables,
  segment: Segment,
): Promise<Copied> {
  const { merge = (former: StoredItem) => former } = rules;
  let [read, written] = [0, 0];
  for await (const page of pagesOf(client, { TableName: from, ...segment })) {
    for (const group of groups(page.filter(isCopied(keyNames, rules)), readsPerCall)) {
      const Keys = group.map((item) => keyOf(item, keyNames));
      const now = await readAll(client, to, { Keys, ConsistentRead: true });
      const byKey = new Map(now.map((item) => [keyText(item, keyNames), item]));
      const requests = group.flatMap((former): WriteRequest[] => {
        const standing = byKey.get(keyText(former, keyNames));
        const Item = merge(former, standing);
        return isDeepStrictEqual(Item, standing) ? [] : [{ PutRequest: { Item } }];
      });
      await writeAll(client, to, requests);
      read += group.length;
      written += requests.length;
    }
  }
  return { read, written, deleted: 0 };
}

async function deleteSurplus(
  client: Pick<DynamoDBClient, 'send'>,
  { from, to, keyNames, rules = {} }: Tables,
  segment: Segment,
): Promise<Copied> {
  const { attributes = [], goes = () => true } = rules.surplus ?? {};
  let deleted = 0;
  const keysAnd = projectionOf([...new Set([...keyNames, ...attributes])]);
  for await (const page of pagesOf(client, { TableName: to, ...segment, ...keysAnd })) {
    const candidates = page.filter((item) => isCopied(keyNames, rules)(item) && goes(item));
    for (const group of groups(candidates, readsPerCall)) {
      const Keys = group.map((item) => keyOf(item, keyNames));
      const found = await readAll(client, from, { Keys, ConsistentRead: true, ...projectionOf(keyNames) });
      const stays = new Set(found.map((item) => keyText(item, keyNames)));
      const surplus = Keys.filter((key) => !stays.has(keyText(key, keyNames)));
      await writeAll(
        client,
        to,
        surplus.map((Key) => ({ DeleteRequest: { Key } })),
      );
      deleted += surplus.length;
    }
  }
  return { read: 0, written: 0, deleted };
}

const isCopied =
  ([partitionKey = '']: readonly string[], { kept = [] }: CopyRules) =>
  (item: StoredItem): boolean =>
    !kept.includes(item[partitionKey]?.S ?? '');

function projectionOf(attributes: readonly string[]) {
  const names = Object.fromEntries(attributes.map((name, index) => [`#a${index}`, name]));
  return { ExpressionAttributeNames: names, ProjectionExpression: Object.keys(names).join(', ') };
}

const keyOf = (item: StoredItem, keyNames: readonly string[]): StoredItem =>
  Object.fromEntries(keyNames.map((name) => [name, item[name] as AttributeValue]));

const keyText = (item: StoredItem, keyNames: readonly string[]): string =>
  JSON.stringify(keyNames.map((name) => item[name]));
