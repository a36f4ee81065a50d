// A DynamoDB that misbehaves on purpose, below the gateway's own attempts: what the wire can do to one command.

import type { TableName } from '../../shared/foundation/constants/index.ts';
import { ConnectionBroken } from '../../shared/foundation/outgoing/index.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { AwsCallFailed } from '../../shared/storage/aws-calls/index.ts';
import type { DynamoClient } from '../../shared/storage/store/index.ts';

/**
 * throttled  refused before it ran            failing    a 500, and it did not run
 * refused    no connection                    silent     it never ran, and nobody says so
 * lost       it ran, and the connection broke before the answer
 * late       it ran, and the answer never comes
 */
export type StoreFault = 'throttled' | 'failing' | 'refused' | 'silent' | 'lost' | 'late';

export interface StoreCommand {
  /** `PutItem`, `UpdateItem` … */
  readonly name: string;
  readonly table: TableName;
  readonly input: Readonly<Record<string, unknown>>;
}

export type FaultPlan = (command: StoreCommand) => StoreFault | undefined;

/** How long silence lasts here: the store's own limit is 800 ms, and nothing but time would be learnt from the rest. */
const silenceMs = 80;

/** `onExecuted` hears of every command that the store really ran, whatever became of its answer. */
export function faultyClient(
  client: DynamoClient,
  plan: FaultPlan,
  onExecuted: (command: StoreCommand) => void,
): DynamoClient {
  const send: DynamoClient['send'] = async (name, input, signal) => {
    const table = String(input.TableName).split('-').at(-1) as TableName;
    const described = { name, table, input };
    const fault = plan(described);
    const runs = fault === undefined || fault === 'late' || fault === 'lost';
    const answer = runs ? await client.send(name, input, signal) : undefined;
    // A refused write is one that was not done.
    if (answer?.kind === 'done') onExecuted(described);
    if (answer !== undefined && fault === undefined) return answer;
    if (fault === 'silent' || fault === 'late') await sleep(systemClock, silenceMs, new AbortController().signal);
    throw errorOf(fault);
  };
  return { send, destroy: () => {} };
}

/** As the client throws them. */
function errorOf(fault: StoreFault | undefined): Error {
  const cause = new Error(`made by the fault suite: ${fault}`);
  switch (fault) {
    case 'throttled':
      return new AwsCallFailed('dynamodb', 400, 'ThrottlingException', cause.message);
    case 'failing':
      return new AwsCallFailed('dynamodb', 500, 'InternalServerError', cause.message);
    case 'refused':
      return new ConnectionBroken(cause, false);
    case 'lost':
      return new ConnectionBroken(cause, true);
    default:
      // The store's own time limit ends the call.
      return cause;
  }
}
