// Counts the source files that run for one call of a warm process, from the first byte to the call's record. A reader
// who follows the call opens these files.
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { createClient, jsonBody, sendOne, streamBody } from '../measuring-client.ts';
import { atMost, type SectionReport } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

/** Number of calls after which every path has been used, and objects that are created once exist. */
const warmCalls = 20;
/** Pause for the work after an answer, because the files of this work count too. */
const settledMs = 500;

const calls = [
  { name: 'chat call', path: '/chat/completions', body: jsonBody(models.limited), filesMax: 120 },
  { name: 'translated stream', path: '/messages', body: streamBody(models.limited), filesMax: 150 },
] as const;

export async function measureFiles({ folder, keys }: Pick<TestBed, 'folder' | 'keys'>): Promise<SectionReport> {
  const gateway = await startGateway({ configFile: join(folder, 'gateway.yaml'), folder });
  try {
    const counts: { readonly files: readonly string[]; readonly name: string; readonly filesMax: number }[] = [];
    for (const { name, path, body, filesMax } of calls) {
      const client = createClient({ ...gateway, path }, 1);
      const call = async () => {
        await sendOne(client, { key: keys.limited, body });
        await sleep(systemClock, settledMs);
        return gateway.inspect({ countsFiles: true });
      };
      for (let n = 1; n < warmCalls; n += 1) await sendOne(client, { key: keys.limited, body });
      await call();
      const { files } = await call();
      client.close();
      counts.push({
        name,
        filesMax,
        files: files.flatMap((url) => /\/((?:functions|shared|infra(?!\/bench))\/.*\.ts)$/.exec(url)?.[1] ?? []),
      });
    }
    return report(counts);
  } finally {
    await gateway.stop();
  }
}

interface CountedCall {
  readonly name: string;
  readonly filesMax: number;
  readonly files: readonly string[];
}

function report(counts: readonly CountedCall[]): SectionReport {
  const partOf = (file: string) => file.split('/').slice(0, 2).join('/');
  const parts = [...new Set(counts.flatMap(({ files }) => files.map(partOf)))].toSorted();
  const rows = parts.map((part) => [
    part,
    ...counts.map(({ files }) => files.filter((file) => partOf(file) === part).length),
  ]);
  const title = 'Files that run for one call of a warm process';
  return {
    tables: [{ title, columns: ['folder', ...counts.map(({ name }) => name)], rows }],
    targets: counts.map(({ name, files, filesMax }) => atMost(`files, ${name}`, files.length, filesMax)),
  };
}
