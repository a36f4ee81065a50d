// Estimates the calls a second of one key of one workspace, from the items and writes of this checkout and the limits
// of a DynamoDB partition (November 2026).
import { createClient, drive } from '../measuring-client.ts';
import { atLeast, atMost, type SectionReport, sum } from '../report.ts';
import { limitedCall } from '../test-bed/bench-file.ts';
import { callForAMinute, flushMs, whileInFlight } from '../test-bed/measured-calls.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const tables = ['keys', 'ledger', 'limits', 'records', 'statistics'] as const;
type WrittenTable = (typeof tables)[number];

/** The writes of a call to a table, and the size of the written item. */
interface ItemFigures {
  readonly writes: number;
  readonly bytes: number;
  /** Bytes that each call in flight adds. */
  readonly bytesPerCallInFlight: number;
}
type Measured = Readonly<Record<WrittenTable, ItemFigures>>;

const callsInFlight = 100;
const countedCalls = 20;
const durationsSeconds = [1, 5, 30];
const oneKeyMin = 200;
const writeUnitsMax = 9.2;
const unitBytes = 1_024;
const partitionUnitsPerSecond = 1_000;

export const measureScale = async (bed: TestBed): Promise<SectionReport> => scaleReport(await measureItems(bed));

export function scaleReport(measured: Measured): SectionReport {
  const rows = durationsSeconds.map((seconds) => [
    seconds,
    carriedBy(measured.keys, seconds),
    carriedBy(measured.ledger, seconds),
  ]);
  const units = sum(tables.map((table) => unitsPerCall(measured[table], 1)));
  return {
    tables: [
      {
        title: 'What a call with every limit writes',
        columns: ['table', 'writes', 'bytes of the item', 'bytes more per call in flight'],
        rows: tables.map((table) => [table, ...Object.values(measured[table])]),
      },
      {
        title: 'Calls a second of one key, beyond which DynamoDB refuses',
        columns: ['seconds a call', 'by the item of the key', 'by the credit of the workspace'],
        rows,
      },
    ],
    targets: [
      ...rows.map(([seconds, key = NaN, credit = NaN]) =>
        atLeast(`calls/s of ${seconds} s, one key with every limit`, Math.min(key, credit), oneKeyMin),
      ),
      atMost('write units of a call with every limit', units, writeUnitsMax),
    ],
  };
}

const unitsPerCall = ({ writes, bytes, bytesPerCallInFlight }: ItemFigures, inFlight: number): number =>
  writes * Math.ceil((bytes + bytesPerCallInFlight * inFlight) / unitBytes);

/** Returns the highest whole rate whose writes one item can take. The number of calls in flight grows with the rate. */
function carriedBy(item: ItemFigures, seconds: number): number {
  let rate = 0;
  while (
    rate < partitionUnitsPerSecond &&
    (rate + 1) * unitsPerCall(item, (rate + 1) * seconds) <= partitionUnitsPerSecond
  )
    rate += 1;
  return rate;
}

async function measureItems(bed: TestBed): Promise<Measured> {
  const key = bed.keys.scale;
  const client = createClient(bed.countedGateway, 1);
  await callForAMinute(bed, key);
  await bed.proxy.takeRequests(flushMs);
  await drive(client, limitedCall(key), countedCalls, 1);
  const written = (await bed.proxy.takeRequests(flushMs)).flatMap(({ writtenTables }) => writtenTables);
  client.close();
  const atRest = await bed.itemSizes(tables);
  const inFlight = await whileInFlight(bed, key, callsInFlight, () => bed.itemSizes(tables));
  const figures = tables.map((table, at): [string, ItemFigures] => {
    const writes = written.filter((name) => name === table).length / countedCalls;
    const bytes = atRest[at] ?? NaN;
    return [table, { writes, bytes, bytesPerCallInFlight: Math.max(0, (inFlight[at] ?? NaN) - bytes) / callsInFlight }];
  });
  return Object.fromEntries(figures) as Measured;
}
