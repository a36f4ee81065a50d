// Watches every operation that the store's client sends: when, for how long, and what DynamoDB would bill for it. Adds a
// delay to each on request, so that operations one after the other show in the time they take together.
import { ConditionalCheckFailedException, type ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import type { DynamoClient } from '../../../shared/storage/store/index.ts';

export interface StoreCall {
  /** `UpdateItem limits`: the operation and the table, without stage. */
  readonly what: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** A condition said no. DynamoDB bills it all the same: one unit at least is counted. */
  readonly isRefused: boolean;
}

export interface StoreWatch {
  /** To send through. */
  readonly client: DynamoClient;
  /** Since the last `clear`, in the order of their ends. */
  readonly calls: readonly StoreCall[];
  delayMs: number;
  clear(): void;
}

export function watchStore(client: DynamoClient): StoreWatch {
  const calls: StoreCall[] = [];
  async function send(command: object, options: object): Promise<unknown> {
    const startedAtMs = performance.now();
    if (watch.delayMs > 0) await sleep(systemClock, watch.delayMs);
    const { clientCommand, input } = command as DocumentCommand;
    const operation = clientCommand.constructor.name.replace(/Command$/, '');
    const noted = (units: number, isRefused: boolean) => {
      const isRead = operation === 'GetItem' || operation === 'Query';
      const billed = isRead ? { writeUnits: 0, readUnits: units } : { writeUnits: units, readUnits: 0 };
      const what = `${operation} ${String(input.TableName).split('-').at(-1)}`;
      calls.push({ what, startedAtMs, endedAtMs: performance.now(), isRefused, ...billed });
    };
    Object.assign(input, { ReturnConsumedCapacity: 'TOTAL' });
    try {
      const answer = (await client.send(command as never, options)) as { ConsumedCapacity?: ConsumedCapacity };
      noted(answer.ConsumedCapacity?.CapacityUnits ?? 0, false);
      return answer;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) noted(1, true);
      throw error;
    }
  }
  const watch: StoreWatch = {
    client: { send: send as DynamoClient['send'], destroy: () => client.destroy() },
    calls,
    delayMs: 0,
    clear: () => void calls.splice(0),
  };
  return watch;
}

/** A command of the document client holds the one that it sends. */
interface DocumentCommand {
  readonly input: Record<string, unknown>;
  readonly clientCommand: object;
}
