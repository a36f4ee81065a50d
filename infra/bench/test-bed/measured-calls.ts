// Makes calls with every limit of one key. The calls' store requests are counted, or the calls are spread over a
// minute, or wait in flight.
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { createClient, drive, jsonBody, sendOne } from '../measuring-client.ts';
import { sum } from '../report.ts';
import { limitedCall, models } from './bench-file.ts';
import type { StoreRequest } from './store-proxy.ts';
import type { TestBed } from './test-bed.ts';

/** Time after which combined writes of several calls are done. */
export const flushMs = 300;
export const costColumns = ['store requests', 'write units', 'read units', 'KB'];

/** Returns means, in the order of `costColumns`. */
export function costOf(requests: readonly StoreRequest[], calls: number) {
  const mean = (figure: 'writeUnits' | 'readUnits' | 'bytes') => sum(requests.map((one) => one[figure])) / calls;
  const [writeUnits, readUnits, kilobytes] = [mean('writeUnits'), mean('readUnits'), mean('bytes') / 1_024];
  return { requests: requests.length / calls, writeUnits, readUnits, kilobytes };
}

export async function countCalls({ proxy, countedGateway }: TestBed, key: string, count: number, connections: 1 | 32) {
  const client = createClient(countedGateway, connections);
  // This call reads the configuration again if it is too old.
  await client.send(limitedCall(key));
  await proxy.takeRequests(flushMs);
  const { failed } = await drive(client, limitedCall(key), count, connections);
  const requests = await proxy.takeRequests(flushMs);
  client.close();
  return { failed, ...costOf(requests, count) };
}

/** Makes one call in each second, by the clocks of the gateways. */
export async function callForAMinute({ countedGateway, advanceClocks }: TestBed, key: string): Promise<void> {
  const client = createClient(countedGateway, 1);
  for (let second = 0; second < 62; second += 1) {
    // The step is not a whole second, so that every call counts at a different fraction of a second.
    await advanceClocks(1_013);
    await sendOne(client, limitedCall(key));
  }
  client.close();
}

/**
 * Maximum number of calls that were sent and have not reached the provider. With more such calls their arrival would be
 * measured.
 */
const arrivingMax = 8;
const arrivalMaxMs = 15_000;
/** Time that is longer than any reservation lasts, and than an expired reservation is remembered. */
const holdsForgottenMs = 600_000;
const returningCalls = 30;

/** Runs `use` while calls wait at the provider: `count` of them, or as many as the gateway accepts. */
export async function whileInFlight<Result>(bed: TestBed, key: string, count: number, use: () => Promise<Result>) {
  const { provider, gateway, advanceClocks } = bed;
  const client = createClient(gateway, count + arrivingMax);
  const body = jsonBody(models.limited, { user: 'wait-held' });
  let [sentCount, ended] = [0, 0];
  const untilMs = performance.now() + arrivalMaxMs;
  while (provider.held < count && performance.now() < untilMs) {
    if (sentCount - ended < Math.min(provider.held + arrivingMax, count)) {
      sentCount += 1;
      void client.send({ key, body }).then(() => (ended += 1));
    } else await sleep(systemClock, 1);
  }
  try {
    return await use();
  } finally {
    // Calls that wait for a connection of the gateway reach the provider after others have ended.
    for (; ended < sentCount; await sleep(systemClock, 20)) provider.release();
    await sleep(systemClock, flushMs);
    await advanceClocks(holdsForgottenMs);
    // Later calls release the expired reservations.
    await drive(client, limitedCall(key), returningCalls, 1);
    client.close();
  }
}
