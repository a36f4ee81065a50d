// A DynamoDB with deliberate faults, below the gateway's own attempts: a fault damages one command as a network can.

import type { TableName } from '../../shared/foundation/constants/index.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import type { DynamoClient } from '../../shared/storage/dynamodb-store/index.ts';
import { aroundSend, type SentCommand } from '../support/around-send.ts';

/**
 * throttled  refused before it ran            failing    a 500, and it did not run
 * refused    no connection                    silent     it never ran, and there is no answer
 * lost       it ran, and the connection broke before the answer
 * late       it ran, and the answer never comes
 */
export type StoreFault = 'throttled' | 'failing' | 'refused' | 'silent' | 'lost' | 'late';

export interface StoreCommand extends SentCommand {
  readonly table: TableName;
}

export type FaultPlan = (command: StoreCommand) => StoreFault | undefined;

/** Silence lasts this long: the store's own limit is 800 ms, and a longer wait would only cost time. */
const silenceMs = 80;

/** Calls `onExecuted` for every command that the store really ran, whatever happened to its answer. */
export function faultyClient(
  client: DynamoClient,
  plan: FaultPlan,
  onExecuted: (command: StoreCommand) => void,
): DynamoClient {
  return aroundSend(client, async (command, send) => {
    const details = { ...command, table: tableOf(command) };
    const fault = plan(details);
    // A refused write rejects, because the store did not do it.
    const executed = async () => {
      const answer = await send();
      onExecuted(details);
      return answer;
    };
    if (fault === undefined) return executed();
    if (fault === 'late' || fault === 'lost') await executed().catch(() => {});
    if (fault === 'silent' || fault === 'late') await sleep(systemClock, silenceMs, new AbortController().signal);
    throw errorOf(fault);
  });
}

/** Returns the table of a command; all items of a batch are in one table here. */
const tableOf = ({ input }: SentCommand): TableName => {
  const [name = input.TableName] = Object.keys(input.RequestItems ?? {});
  return String(name).split('-').at(-1) as TableName;
};

/** Returns the error that the client throws. */
function errorOf(fault: StoreFault): Error {
  const error = new Error(`made by the fault suite: ${fault}`);
  switch (fault) {
    case 'throttled':
      return Object.assign(error, { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } });
    case 'failing':
      return Object.assign(error, { name: 'InternalServerError', $metadata: { httpStatusCode: 500 } });
    case 'refused':
      return Object.assign(error, { code: 'ECONNREFUSED', syscall: 'connect' });
    case 'lost':
      return Object.assign(error, { code: 'ECONNRESET' });
    default:
      // The store's own time limit ends the call.
      return error;
  }
}
