// Counts what a warm call leaves for the garbage collector: the number of promises and timers, and the bytes by the
// folder whose code allocated them. The key has requests a minute and a spend limit, the workspace has credit, the
// store is in the process, and there are 32 connections.
import { join } from 'node:path';
import { createClient, drive, jsonBody } from '../measuring-client.ts';
import { atMost, type SectionReport } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

/**
 * Half as many calls are made before the measurement, because compiled and cached values allocate no more after these
 * calls.
 */
const countedCallsDefault = 1_024;
const connections = 32;

const targets = { promises: 130, timers: 4, kilobytes: 170 } as const;

interface WarmGateway extends Pick<Awaited<ReturnType<typeof startGateway>>, 'inspect'> {
  call(count: number): Promise<void>;
}

/** Measures a gateway that is warm. `folder` contains the gateway file. */
async function onWarmGateway<Value>(
  { folder, keys }: Pick<TestBed, 'folder' | 'keys'>,
  warmCalls: number,
  use: (gateway: WarmGateway) => Promise<Value>,
): Promise<Value> {
  const gateway = await startGateway({ configFile: join(folder, 'gateway.yaml'), folder });
  const client = createClient(gateway, connections);
  const call = async (count: number) => {
    const { failed } = await drive(client, { key: keys.limited, body: jsonBody(models.limited) }, count, connections);
    if (failed > 0) throw new Error(`${failed} of ${count} calls failed`);
  };
  try {
    await call(warmCalls);
    return await use({ call, inspect: gateway.inspect });
  } finally {
    client.close();
    await gateway.stop();
  }
}

async function countIn({ call, inspect }: WarmGateway, countedCalls: number) {
  await inspect({ countsPromises: true });
  await call(countedCalls);
  const { promises, timers } = await inspect();
  return { promises: promises / countedCalls, timers: timers / countedCalls };
}

async function sampleIn({ call, inspect }: WarmGateway, countedCalls: number) {
  await inspect({ samplesAllocations: true });
  await call(countedCalls);
  const { allocations } = await inspect();
  const byFolder = new Map<string, number>();
  for (const { url, bytes } of allocations) {
    const folder = folderOf(url);
    byFolder.set(folder, (byFolder.get(folder) ?? 0) + bytes / 1_024 / countedCalls);
  }
  return [...byFolder].toSorted(([, left], [, right]) => right - left);
}

/** Returns a folder such as `shared/accounting/holds` or `functions/gateway/settlement`, or the name of a package. */
function folderOf(url: string): string {
  const [, packageName] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (packageName !== undefined) return packageName;
  const [, folder] = /\/((?:functions|shared|infra)\/[^/]+(?:\/[^/]+)?)\/[^/]*/.exec(url) ?? [];
  return folder ?? 'Node itself';
}

export async function measureGarbage({
  countedCalls = countedCallsDefault,
  ...bed
}: Pick<TestBed, 'folder' | 'keys'> & { readonly countedCalls?: number }): Promise<SectionReport> {
  const { promises, timers, rows } = await onWarmGateway(bed, countedCalls / 2, async (gateway) => ({
    ...(await countIn(gateway, countedCalls)),
    rows: await sampleIn(gateway, countedCalls),
  }));
  const kilobytes = rows.reduce((sum, [, each]) => sum + each, 0);
  return {
    tables: [{ title: 'Garbage of a warm call, by what allocates it', columns: ['place', 'KB'], rows }],
    targets: [
      atMost('promises of a call', promises, targets.promises),
      atMost('timers of a call', timers, targets.timers),
      atMost('garbage of a call', kilobytes, targets.kilobytes, ' KB'),
    ],
  };
}
