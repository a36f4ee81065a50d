// How far a deployed gateway carries: what each part takes, which of them binds, what is needed beyond, what a million
// calls cost. A model, fed with the items and writes of this checkout, and with limits of AWS of November 2026.
import type { StageSettings } from '../../cdk/settings-schema.ts';
import { stageSettings } from '../../cdk/stage-settings.ts';
import { callCosts, sumOf, usualCall } from '../costs.ts';
import { createClient, drive } from '../measuring-client.ts';
import { atLeast, atMost, type SectionReport, sum } from '../report.ts';
import { limitedCall } from '../test-bed/bench-file.ts';
import { callForAMinute, flushMs, whileInFlight } from '../test-bed/measured-calls.ts';
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
const writeUnitsMax = 9.2;
const ratesEnd = 100_000;
const unitBytes = 1_024;
const partitionWritesPerSecond = 1_000;
const partitionReadsPerSecond = 3_000;
/** Calls come in bursts, and repeated and refused writes take units too: a second at the limit of a partition is a refusal. */
const plannedShare = 0.35;
const newTableWritesPerSecond = 4_000;
const concurrencyDefault = 1_000;
const configFreshSeconds = 5;

export const measureScale = async (bed: TestBed): Promise<SectionReport> => scaleReport(await measureItems(bed));

/** `prod`: the settings of the stage that the figures are for. */
export function scaleReport(measured: Measured, prod: StageSettings | undefined = stageSettings.prod): SectionReport {
  const planned = durationsSeconds.map((seconds) => carriedBy(measured, seconds, plannedShare, prod));
  const refused = durationsSeconds.map((seconds) => carriedBy(measured, seconds, 1, prod));
  const columns = durationsSeconds.map((seconds) => `calls/s of ${seconds} s`);
  const rows = parts.map(({ part, beyond }, at) => [part, ...planned.map((ofSeconds) => ofSeconds[at]), beyond]);
  const binding = planned.map((ofSeconds) => parts[ofSeconds.indexOf(Math.min(...ofSeconds))]?.part);
  const units = sum(tables.map((table) => unitsPerCall(measured[table], 1)));
  const cost = durationsSeconds.map((seconds) => sumOf(callCosts({ ...usualCall, seconds, writeUnits: units })));
  return {
    tables: [
      {
        title: 'What a call with every limit writes',
        columns: ['table', 'writes', 'bytes of the item', 'bytes more per call in flight'],
        rows: tables.map((table) => [table, ...Object.values(measured[table])]),
      },
      {
        title: `What one key of one workspace carries in prod as it is set, planned at ${100 * plannedShare} % of what a partition takes`,
        columns: ['part', ...columns, 'what carries more'],
        rows,
      },
      {
        title: 'What binds',
        columns: ['', ...columns],
        rows: [
          ['the part', ...binding],
          ['calls/s, planned', ...planned.map((ofSeconds) => Math.min(...ofSeconds))],
          ['calls/s of one key and its credit, planned', ...planned.map(oneKey)],
          ['calls/s of one key and its credit, beyond which DynamoDB refuses', ...refused.map(oneKey)],
          ['USD per million calls', ...cost],
        ],
      },
    ],
    targets: [
      ...refused.map((ofSeconds, at) =>
        atLeast(`${columns[at]}, one key with every limit, before DynamoDB refuses`, oneKey(ofSeconds), oneKeyMin),
      ),
      atMost('write units of a call with every limit', units, writeUnitsMax),
    ],
  };
}

const oneKey = ([key = NaN, credit = NaN]: readonly number[]): number => Math.min(key, credit);

const setting = (name: keyof StageSettings): string => `\`${name}\``;

/** What a rate of calls runs into, and what lifts it. */
const parts = [
  { part: 'the item of the key', beyond: 'several keys, or a key without `spend_limit_usd` and `rpm`' },
  { part: 'the credit of the workspace', beyond: '`credit_shards` up to 32, then several workspaces' },
  {
    part: 'concurrent executions',
    beyond: `the quota "Concurrent executions" of Lambda, ${setting('gatewayReservedConcurrency')}`,
  },
  { part: 'reads of the configuration', beyond: `several stages; ${setting('compute')}: 'container'` },
  { part: 'the busiest table', beyond: `${setting('tableWritesPerSecondMax')}; a new one grows as it is used` },
] as const;

/** Calls a second, in the order of the parts. */
function carriedBy(
  measured: Measured,
  seconds: number,
  share: number,
  prod: StageSettings | undefined,
): readonly number[] {
  const unitsOf = (table: WrittenTable, rate: number) => rate * unitsPerCall(measured[table], rate * seconds);
  const [key = 0, credit = 0] = (['keys', 'ledger'] as const).map((table) =>
    largestRate((rate) => unitsOf(table, rate) <= partitionWritesPerSecond * share),
  );
  // Beyond what they carry, calls are spread over more items, none fuller than these.
  const tableUnits = (rate: number) => {
    const full = Math.min(rate, key, credit);
    return (rate / full) * Math.max(...tables.map((table) => unitsOf(table, full)));
  };
  const configReads = (partitionReadsPerSecond * share) / Math.min(1, seconds / configFreshSeconds);
  const tableMax = Math.min(newTableWritesPerSecond, prod?.tableWritesPerSecondMax ?? newTableWritesPerSecond);
  const concurrency = prod?.gatewayReservedConcurrency ?? concurrencyDefault;
  const table = largestRate((rate) => tableUnits(rate) <= tableMax);
  return [key, credit, concurrency / seconds, configReads, table];
}

const unitsPerCall = ({ writes, bytes, bytesPerCallInFlight }: ItemFigures, inFlight: number): number =>
  writes * Math.ceil((bytes + bytesPerCallInFlight * inFlight) / unitBytes);

/** The largest whole rate that fits; what does not fit at one rate fits at no higher one. */
function largestRate(fits: (perSecond: number) => boolean): number {
  let rate = 0;
  while (rate < ratesEnd && fits(rate + 1)) rate += 1;
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
