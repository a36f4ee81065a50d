// The run for people: one table a section, the targets last.
import { shown } from './figures.ts';
import { tableText } from './print-table.ts';
import type { BenchResults, Machine } from './results.ts';
import { delayMs } from './sections/measure-rounds.ts';
import { judge } from './targets.ts';

/** Markdown. */
export function resultsText(results: BenchResults): string {
  const { machine, startedAt, isQuick, portkeySkipped } = results;
  const head = `${machineText(machine)}, ${startedAt.slice(0, 10)}${isQuick ? ', a quick run: read it with care' : ''}\n`;
  const skipped = portkeySkipped === undefined ? '' : `\nskipped: ${portkeySkipped}\n`;
  const parts = [latencyText, firstChunkText, roundsText, cpuText, memoryText, startText].map((part) => part(results));
  return [head, skipped, ...parts, targetsText(results)].filter((part) => part !== '').join('\n');
}

const machineText = ({ processor, cores, memoryGb, platform, node, loadAtStart }: Machine): string =>
  `${processor}, ${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}, load before the run ${shown(loadAtStart)}`;

function latencyText({ latency }: BenchResults): string {
  if (latency === undefined) return '';
  const names = [
    'target',
    'kind',
    'connections',
    'p50 ms',
    'p99 ms',
    'added p50',
    'added p99',
    'added, last byte',
    'calls/s',
    'failed',
    'CPU ms',
  ];
  const rows = latency.calls.map((row) => {
    const added = latency.added.find(
      ({ target, kind, connections }) => target === row.target && kind === row.kind && connections === row.connections,
    );
    return [
      row.target,
      row.kind,
      row.connections,
      shown(row.p50Ms),
      shown(row.p99Ms),
      added && shown(added.addedP50Ms),
      added && shown(added.addedP99Ms),
      added?.addedEndP50Ms === undefined ? undefined : shown(added.addedEndP50Ms),
      shown(row.perSecond),
      row.failed,
      row.cpuMsPerCall === undefined ? undefined : shown(row.cpuMsPerCall),
    ];
  });
  return `Latency (JSON: to the last byte; stream: to the first chunk of 300; 1 connection pauses 20 ms between calls, 32 do not)\n\n${tableText(names, rows)}`;
}

function firstChunkText({ firstChunk }: BenchResults): string {
  if (firstChunk === undefined) return '';
  const rows = [
    ['before the first command to the store', shown(firstChunk.beforeStoreMs)],
    ['the one round of commands', shown(firstChunk.storeRoundMs)],
    ['… of it the embedded store itself: as many plain writes from bare sockets', shown(firstChunk.bareStoreMs)],
    ['from its last answer until the provider is called', shown(firstChunk.afterStoreMs)],
  ];
  return `Where the time to the first chunk goes, without the connections to client and provider\n\n${tableText(['part', 'p50 ms'], rows)}`;
}

function roundsText({ rounds }: BenchResults): string {
  if (rounds === undefined) return '';
  const names = [
    'request',
    'rounds before',
    'wait ms',
    'before the end',
    'after',
    'commands',
    'refused',
    'write units',
    'read units',
  ];
  const rows = rounds.map((row) => [
    row.kind,
    row.roundsBefore,
    shown(row.waitBeforeMs),
    row.roundsBeforeEnd,
    row.roundsAfter,
    row.calls,
    row.refused,
    row.writeUnits,
    row.readUnits,
  ]);
  return `The store per request (rounds are sequential; "wait": until the provider is called, with ${delayMs} ms added to every command)\n\n${tableText(names, rows)}`;
}

function cpuText({ cpu }: BenchResults): string {
  if (cpu === undefined) return '';
  const rows = cpu.map(({ what, kind, cpuMs }) => [
    what,
    kind === 'json' ? 'JSON' : 'stream of 300 chunks',
    shown(cpuMs),
  ]);
  return `Processor time per request, no sockets to client or provider\n\n${tableText(['what', 'kind', 'CPU ms'], rows)}`;
}

const megabyte = 1024 * 1024;

function memoryText({ memory }: BenchResults): string {
  if (memory === undefined) return '';
  const rows = memory.map(({ requests, residentBytes, heapUsedBytes }) => [
    String(requests),
    shown(residentBytes / megabyte),
    shown(heapUsedBytes / megabyte),
  ]);
  return `Memory of the gateway process, after a full collection\n\n${tableText(['requests', 'resident MB', 'kept heap MB'], rows)}`;
}

function startText({ start }: BenchResults): string {
  if (start === undefined) return '';
  const rows = start.map(({ name, bytes, startMs, loadMs, timesEmpty }) => [
    name,
    shown(bytes / 1024),
    shown(startMs),
    shown(loadMs),
    shown(timesEmpty),
  ]);
  return `Start of a process with the bundle\n\n${tableText(['handler', 'KB', 'start ms', 'of it loading', 'times empty'], rows)}`;
}

function targetsText(results: BenchResults): string {
  const rows = judge(results).map(({ what, limit, measured, isMet }) => [
    what,
    limit,
    measured,
    isMet ? 'met' : 'MISSED',
  ]);
  return rows.length === 0 ? '' : `Targets\n\n${tableText(['what', 'target', 'measured', ''], rows)}`;
}
