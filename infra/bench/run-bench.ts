// The sections of a bench, one after the other; each starts what it needs and stops it again.
import { writeFile } from 'node:fs/promises';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { type BenchPlan, fullPlan, quickPlan } from './bench-plan.ts';
import { type BenchKeys, gatewayFileText, models, newKeys } from './gateway-file.ts';
import type { BenchOptions, SectionName } from './options.ts';
import { type BenchProcess, startChild } from './processes/start-child.ts';
import { type Portkey, startPortkey } from './processes/start-portkey.ts';
import { jsonBody, streamBody } from './request-bodies.ts';
import { type BenchResults, gatewayName, type Machine, providerName } from './results.ts';
import { measureCpu } from './sections/measure-cpu.ts';
import { measureFirstChunk } from './sections/measure-first-chunk.ts';
import { measureItems } from './sections/measure-items.ts';
import { addedBy, type LatencyTarget, measureLatency } from './sections/measure-latency.ts';
import { measureMemory } from './sections/measure-memory.ts';
import { measureRounds } from './sections/measure-rounds.ts';
import { measureStart } from './sections/measure-start.ts';

export interface BenchRun {
  readonly options: BenchOptions;
  /** Of its own, empty; the caller removes it. */
  readonly folder: string;
  readonly say: (line: string) => void;
  readonly plan?: BenchPlan;
}

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

export async function runBench({ options, folder, say, plan: given }: BenchRun): Promise<BenchResults> {
  const plan = given ?? (options.isQuick ? quickPlan : fullPlan);
  const results: Mutable<BenchResults> = {
    machine: describeMachine(),
    startedAt: new Date().toISOString(),
    isQuick: options.isQuick,
  };
  const wants = (section: SectionName): boolean => {
    if (options.sections.has(section)) say(`measuring ${section} …`);
    return options.sections.has(section);
  };
  if (wants('rounds')) {
    results.rounds = await measureRounds(plan);
    results.itemBytes = await measureItems();
  }
  if (wants('first-chunk')) results.firstChunk = await measureFirstChunk(plan);
  if (wants('cpu')) results.cpu = await measureCpu(plan);
  if (wants('start')) results.start = await measureStart(plan, join(folder, 'bundles'));
  if (options.sections.has('latency') || options.sections.has('memory')) {
    await withProcesses(folder, async (processes) => {
      if (wants('latency')) await addLatency(results, plan, { options, folder, say }, processes);
      if (wants('memory')) {
        const { gateway, keys } = processes;
        const bodies = { jsonBody: jsonBody(models.unlimited), streamBody: streamBody(models.unlimited) };
        results.memory = await measureMemory(plan, gateway, { key: keys.unlimited, ...bodies });
      }
    });
  }
  return results;
}

interface Processes {
  readonly upstream: BenchProcess;
  readonly gateway: BenchProcess;
  readonly keys: BenchKeys;
}

async function withProcesses(folder: string, use: (processes: Processes) => Promise<void>): Promise<void> {
  const upstream = await startChild('upstream-main.ts');
  try {
    const keys = newKeys();
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, gatewayFileText(upstream.url, keys));
    const gateway = await startChild('gateway-main.ts', [file]);
    try {
      await use({ upstream, gateway, keys });
    } finally {
      await gateway.stop();
    }
  } finally {
    await upstream.stop();
  }
}

async function addLatency(
  results: Mutable<BenchResults>,
  plan: BenchPlan,
  { options, folder, say }: Omit<BenchRun, 'plan'>,
  { upstream, gateway, keys }: Processes,
): Promise<void> {
  const direct = { jsonBody: jsonBody('bench-upstream'), streamBody: streamBody('bench-upstream') };
  const ours = { jsonBody: jsonBody(models.busy), streamBody: streamBody(models.busy) };
  const targets: LatencyTarget[] = [
    { name: providerName, url: upstream.url, headers: {}, ...direct },
    {
      name: gatewayName,
      url: gateway.url,
      headers: { authorization: `Bearer ${keys.limited}` },
      ...ours,
      process: gateway,
    },
  ];
  let portkey: Portkey | undefined;
  try {
    if (options.withPortkey) portkey = await startPortkey(join(folder, 'portkey'), upstream.url, direct.jsonBody);
  } catch (error) {
    results.portkeySkipped = error instanceof Error ? error.message : String(error);
    say(`skipped: ${results.portkeySkipped}`);
  }
  try {
    // No streams: a fresh install of it fails every one.
    if (portkey !== undefined) targets.push({ ...portkey, jsonBody: direct.jsonBody });
    const calls = await measureLatency(plan, targets);
    results.latency = { calls, added: addedBy(calls, providerName) };
  } finally {
    await portkey?.stop();
  }
}

function describeMachine(): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? 'unknown processor',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    platform: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
    loadAtStart: loadavg()[0] ?? 0,
  };
}
