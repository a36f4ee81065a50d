// A closed loop: each connection sends its next call when it has the last byte of the one before, or a pause later.
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { send, type Target, type Times } from './send.ts';

/** Far above any call of a bench that works. */
const callTimeoutMs = 20_000;

export interface Drive {
  readonly count: number;
  readonly connections: number;
  readonly pauseMs: number;
  /** JSON text of the request, of the n-th call. */
  readonly bodyOf: (call: number) => string;
}

export interface DriveResult {
  readonly times: readonly Times[];
  /** Calls that were refused or broke: on a busy machine the store may take longer than the gateway waits. */
  readonly failed: number;
  readonly elapsedMs: number;
}

/** Of a hundred calls. More is no accident, and the figures of the others would say little. */
const failedPercentMax = 5;

/** Rejects with the last failure where too many calls fail. */
export async function drive(target: Target, { count, connections, pauseMs, bodyOf }: Drive): Promise<DriveResult> {
  const times: Times[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const connection = async () => {
    while (next < count) {
      const call = next;
      next += 1;
      if (pauseMs > 0) await sleep(systemClock, pauseMs);
      try {
        times.push(await send(target, bodyOf(call), callTimeoutMs));
      } catch (error) {
        failures.push(error);
        if (failures.length * 100 > count * failedPercentMax) throw error;
      }
    }
  };
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  return { times, failed: failures.length, elapsedMs: performance.now() - startedMs };
}
