// A DynamoDB that misbehaves on purpose, below the gateway's own attempts: what the wire can do to one command.
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { TableName } from '../../shared/names/index.ts';
import { sleep, systemClock } from '../../shared/time/index.ts';

/**
 * throttled  refused before it ran            failing    a 500, and it did not run
 * refused    no connection                    silent     it never ran, and nobody says so
 * lost       it ran, and the connection broke before the answer
 * late       it ran, and the answer never comes
 */
export type StoreFault = 'throttled' | 'failing' | 'refused' | 'silent' | 'lost' | 'late';

export interface StoreCommand {
  /** `PutItemCommand`, `UpdateItemCommand` … */
  readonly name: string;
  readonly table: TableName;
  readonly input: Readonly<Record<string, unknown>>;
}

export type FaultPlan = (command: StoreCommand) => StoreFault | undefined;

/** How long silence lasts here: the store's own limit is 800 ms, and nothing but time would be learnt from the rest. */
const silenceMs = 80;

type Command = Parameters<DynamoDBClient['send']>[0];

/** `onExecuted` hears of every command that the store really ran, whatever became of its answer. */
export function faultyClient(
  client: DynamoDBClient,
  plan: FaultPlan,
  onExecuted: (command: StoreCommand) => void,
): DynamoDBClient {
  async function send(command: Command, options?: unknown): Promise<unknown> {
    const described = describeCommand(command);
    const fault = plan(described);
    const runs = fault === undefined || fault === 'late' || fault === 'lost';
    const output: unknown = runs ? await client.send(command as never, options as never) : undefined;
    if (runs) onExecuted(described);
    if (fault === undefined) return output;
    if (fault === 'silent' || fault === 'late') await sleep(systemClock, silenceMs, new AbortController().signal);
    throw errorOf(fault);
  }
  return { send, destroy: () => {} } as unknown as DynamoDBClient;
}

function describeCommand(command: Command): StoreCommand {
  const input = command.input as { TableName?: string };
  const table = (input.TableName ?? '').split('-').at(-1) as TableName;
  return { name: command.constructor.name, table, input: input as Readonly<Record<string, unknown>> };
}

/** As the SDK throws them. */
function errorOf(fault: StoreFault): Error {
  // The store's own time limit aborts the command.
  const timeOver = { name: 'AbortError' };
  const shapes = {
    throttled: { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } },
    failing: { name: 'InternalServerError', $metadata: { httpStatusCode: 500 } },
    refused: { code: 'ECONNREFUSED', syscall: 'connect' },
    lost: { code: 'ECONNRESET', syscall: 'read' },
    silent: timeOver,
    late: timeOver,
  };
  return Object.assign(new Error(`made by the fault suite: ${fault}`), shapes[fault]);
}
