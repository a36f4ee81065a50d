// How far a deployed gateway carries: what each part takes, what is needed beyond, what a million calls cost. A model, fed
// with the items and writes of this checkout, and with limits and prices of AWS of November 2026 (us-east-1).
import { createClient, drive } from '../client.ts';
import { atLeast, type SectionReport, sum } from '../report.ts';
import { callForAMinute, flushMs, whileInFlight } from '../test-bed/calls.ts';
import { limitedCall } from '../test-bed/gateway-file.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const tables = ['keys', 'ledger', 'limits', 'records', 'statistics'] as const;
type WrittenTable = (typeof tables)[number];

/** What a call writes to a table, and how large the written item is. */
interface ItemFigures {
  readonly writes: number;
  readonly bytes: number;
  /** That each call in flight adds. */
  readonly bytesPerCallInFlight: number;
}
export type Measured = Readonly<Record<WrittenTable, ItemFigures>>;

const callsInFlight = 100;
const countedCalls = 20;
const durationsSeconds = [1, 5, 30];
const oneKeyMin = 200;
const ratesEnd = 100_000;
const unitBytes = 1_024;
const partitionWritesPerSecond = 1_000;
const partitionReadsPerSecond = 3_000;
const newTableWritesPerSecond = 4_000;
const concurrencyDefault = 1_000;
const configFreshSeconds = 5;
const memoryGb = 0.5;
const usdPerGbSecond = 0.0000133334;
const usdPerMillionWrites = 0.625;
/** Lambda and CloudFront requests; 1.5 KB of log, 4 KB of egress. */
const usdPerMillionCalls = 0.2 + 1 + 1.09;

export const measureScale = async (bed: TestBed): Promise<SectionReport> => scaleReport(await measureItems(bed));

export function scaleReport(measured: Measured): SectionReport {
  const carried = durationsSeconds.map((seconds) => carriedBy(measured, seconds));
  const columns = durationsSeconds.map((seconds) => `calls/s of ${seconds} s`);
  const rows = parts.map(([part, setting], at) => [part, ...carried.map((ofSeconds) => ofSeconds[at]), setting]);
  const cost = durationsSeconds.map((seconds) => usdOf(measured, seconds));
  return {
    tables: [
      {
        title: 'What a call with every limit writes',
        columns: ['table', 'writes', 'bytes of the item', 'bytes more per call in flight'],
        rows: tables.map((table) => [table, ...Object.values(measured[table])]),
      },
      {
        title: 'What one key of one workspace carries without a setting, and the setting that carries more',
        columns: ['part', ...columns, 'beyond'],
        rows: [...rows, ['USD per million calls', ...cost]],
      },
    ],
    targets: carried.map(([key = NaN, credit = NaN], at) =>
      atLeast(`${columns[at]}, one key with every limit, no setting`, Math.min(key, credit), oneKeyMin),
    ),
  };
}

/** What a rate of calls runs into, and the setting that lifts it. */
const parts = [
  ['the item of the key', 'several keys, or no spend limit and rpm for it'],
  ['the credit of the workspace', 'credit_shards up to 32, then several workspaces'],
  ['concurrent executions', 'the quota "Concurrent executions"'],
  ['reads of the configuration', '-c compute=web'],
  ['the busiest table, when new', 'warm throughput'],
] as const;

/** Calls a second, in the order of the parts. */
function carriedBy(measured: Measured, seconds: number): readonly number[] {
  const unitsOf = (table: WrittenTable, rate: number) => rate * unitsPerCall(measured[table], rate * seconds);
  const [key = 0, credit = 0] = (['keys', 'ledger'] as const).map((table) =>
    largestRate((rate) => unitsOf(table, rate) <= partitionWritesPerSecond),
  );
  // Beyond what they carry, calls are spread over more items, none fuller than these.
  const tableUnits = (rate: number) => {
    const full = Math.min(rate, key, credit);
    return (rate / full) * Math.max(...tables.map((table) => unitsOf(table, full)));
  };
  const configReads = partitionReadsPerSecond / Math.min(1, seconds / configFreshSeconds);
  const newTable = largestRate((rate) => tableUnits(rate) <= newTableWritesPerSecond);
  return [key, credit, concurrencyDefault / seconds, configReads, newTable];
}

const unitsPerCall = ({ writes, bytes, bytesPerCallInFlight }: ItemFigures, inFlight: number): number =>
  writes * Math.ceil((bytes + bytesPerCallInFlight * inFlight) / unitBytes);

/** The largest whole rate that fits; what does not fit at one rate fits at no higher one. */
function largestRate(fits: (perSecond: number) => boolean): number {
  let rate = 0;
  while (rate < ratesEnd && fits(rate + 1)) rate += 1;
  return rate;
}

/** At one call a second, without the providers' bills; Lambda as classic functions. */
const usdOf = (measured: Measured, seconds: number): number =>
  seconds * memoryGb * usdPerGbSecond * 1_000_000 +
  sum(tables.map((table) => unitsPerCall(measured[table], seconds))) * usdPerMillionWrites +
  usdPerMillionCalls;

/** Waits of `flushMs` for what is written behind the answers: on a machine that others use it may be late. */
const flushesMax = 100;

/** The table of each written item, once every table is among them. */
async function takeWrittenTables({ proxy }: TestBed): Promise<readonly string[]> {
  const written: string[] = [];
  for (let flush = 1; flush <= flushesMax; flush += 1) {
    written.push(...(await proxy.takeRequests(flushMs)).flatMap(({ writtenTables }) => writtenTables));
    if (tables.every((table) => written.includes(table))) break;
  }
  return written;
}

async function measureItems(bed: TestBed): Promise<Measured> {
  const key = bed.keys.scale;
  const client = createClient(bed.countedGateway, 1);
  await callForAMinute(bed, key);
  await bed.proxy.takeRequests(flushMs);
  await drive(client, limitedCall(key), countedCalls, 1);
  const written = await takeWrittenTables(bed);
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
