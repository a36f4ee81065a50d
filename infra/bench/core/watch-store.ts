// Watches every operation that the store's client sends: when, for how long, and what DynamoDB would bill for it. Adds a
// delay to each on request, so that operations one after the other show in the time they take together.

import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import type { DynamoAnswer, DynamoClient, DynamoInput } from '../../../shared/storage/store/index.ts';

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
  async function send(operation: string, input: DynamoInput, signal?: AbortSignal): Promise<DynamoAnswer> {
    const startedAtMs = performance.now();
    if (watch.delayMs > 0) await sleep(systemClock, watch.delayMs);
    const answer = await client.send(operation, { ...input, ReturnConsumedCapacity: 'TOTAL' }, signal);
    const isRead = operation === 'GetItem' || operation === 'Query';
    const units = unitsOf(answer);
    const billed = isRead ? { writeUnits: 0, readUnits: units } : { writeUnits: units, readUnits: 0 };
    const what = `${operation} ${String(input.TableName).split('-').at(-1)}`;
    const isRefused = answer.kind === 'refused';
    calls.push({ what, startedAtMs, endedAtMs: performance.now(), isRefused, ...billed });
    return answer;
  }
  const watch: StoreWatch = {
    client: { send, destroy: () => client.destroy() },
    calls,
    delayMs: 0,
    clear: () => void calls.splice(0),
  };
  return watch;
}

function unitsOf(answer: DynamoAnswer): number {
  if (answer.kind === 'refused') return 1;
  const consumed = answer.output.ConsumedCapacity as { readonly CapacityUnits?: number } | undefined;
  return consumed?.CapacityUnits ?? 0;
}
