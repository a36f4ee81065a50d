// Measures whether the memory of a gateway grows with the number of calls that it has served. The memory is read after
// a full collection, so that only live memory counts.

import type { BenchPlan } from '../bench-options.ts';
import { createClient, drive, jsonBody } from '../measuring-client.ts';
import { atMost, type SectionReport } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const samples = 10;
const megabyte = 1_024 * 1_024;
/** Maximum growth of a flat result, because the live heap varies with timers, pools and compiled code. */
const growthMaxPercent = 10;

export async function measureMemory({ gateway, keys }: TestBed, { memory }: BenchPlan): Promise<SectionReport> {
  const client = createClient(gateway, 32);
  const call = { key: keys.unlimited, body: jsonBody(models.unlimited) };
  const count = Math.ceil(memory / samples);
  const rows: (readonly [calls: number, residentMb: number, heapMb: number])[] = [];
  for (let sample = 0; sample <= samples; sample += 1) {
    if (sample > 0) await drive(client, call, count, 32);
    const { residentBytes, heapUsedBytes } = await gateway.inspect({ collectsGarbage: true });
    rows.push([sample * count, residentBytes / megabyte, heapUsedBytes / megabyte]);
  }
  client.close();
  // Caches fill up in the first half; a leak continues in the second.
  const growthPercent = ((rows[samples]?.[2] ?? NaN) / (rows[samples / 2]?.[2] ?? NaN) - 1) * 100;
  const title = 'Memory of the gateway process, after a full collection';
  return {
    tables: [{ title, columns: ['calls', 'resident MB', 'kept heap MB'], rows }],
    targets: [atMost('kept heap, end against middle', growthPercent, growthMaxPercent, ' %')],
  };
}
