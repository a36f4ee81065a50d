// Watches every command that the store's client sends: when, for how long, and what DynamoDB would bill for it. Adds a
// delay to each on request, so that commands one after the other show in the time they take together.
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { sleep, systemClock } from '../../../shared/time/index.ts';

export interface StoreCall {
  /** `UpdateItem limits`: the command and the table, without stage. */
  readonly what: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** A condition said no. DynamoDB bills it all the same: one unit at least is counted. */
  readonly isRefused: boolean;
}

export interface StoreWatch {
  /** Since the last `clear`, in the order of their ends. */
  readonly calls: readonly StoreCall[];
  delayMs: number;
  clear(): void;
}

interface CommandInput {
  readonly TableName?: string;
  ReturnConsumedCapacity?: string;
}

const neverAborts = new AbortController().signal;

export function watchStore(client: DynamoDBClient): StoreWatch {
  const calls: StoreCall[] = [];
  const watch: StoreWatch = { calls, delayMs: 0, clear: () => void calls.splice(0) };
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const input = args.input as CommandInput;
      input.ReturnConsumedCapacity = 'TOTAL';
      const startedAtMs = performance.now();
      const command = String(context.commandName).replace(/Command$/, '');
      const note = (units: number, isRefused: boolean) => {
        const isRead = command === 'GetItem' || command === 'Query';
        const what = `${command} ${tableOf(input)}`;
        const billed = isRead ? { writeUnits: 0, readUnits: units } : { writeUnits: units, readUnits: 0 };
        calls.push({ what, startedAtMs, endedAtMs: performance.now(), isRefused, ...billed });
      };
      if (watch.delayMs > 0) await sleep(systemClock, watch.delayMs, neverAborts);
      try {
        const result = await next(args);
        const { ConsumedCapacity: consumed } = result.output as { ConsumedCapacity?: { CapacityUnits?: number } };
        note(consumed?.CapacityUnits ?? 0, false);
        return result;
      } catch (error) {
        note(1, true);
        throw error;
      }
    },
    { step: 'initialize', name: 'benchWatch' },
  );
  return watch;
}

const tableOf = ({ TableName: name = '' }: CommandInput): string => name.split('-').at(-1) ?? name;
