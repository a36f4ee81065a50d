// The operations on whole tables, which the store knows nothing of.
import type { DynamoClient } from '../../shared/storage/store/index.ts';

interface TableOutputs {
  readonly CreateTable: object;
  readonly DeleteTable: object;
  readonly DescribeTable: {
    readonly Table?: {
      readonly TableStatus?: string;
      readonly ItemCount?: number;
      readonly TableSizeBytes?: number;
    };
  };
  readonly DescribeTimeToLive: { readonly TimeToLiveDescription?: { readonly TimeToLiveStatus?: string } };
  readonly UpdateTimeToLive: object;
}

type TableInput = { readonly TableName: string } & Readonly<Record<string, unknown>>;

/** Throws like `DynamoClient.send`. */
export async function askDynamo<Operation extends keyof TableOutputs>(
  client: Pick<DynamoClient, 'send'>,
  operation: Operation,
  input: TableInput,
): Promise<TableOutputs[Operation]> {
  const answer = await client.send(operation, input);
  if (answer.kind === 'refused') throw new Error(`${operation} has no condition that could refuse it`);
  return answer.output as TableOutputs[Operation];
}
