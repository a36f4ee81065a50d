// How long each Lambda bundle takes from the start of a Node process until its handler is loaded, beside a handler that
// does nothing. On Lambda the same work takes three to five times as long.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { environmentNames } from '../../../shared/foundation/constants/index.ts';
import { bundleMaxBytes } from '../../build/bundle.ts';
import { writeBundles } from '../../build/write-bundles.ts';
import type { BenchPlan } from '../bench-options.ts';
import { atMost, median, type SectionReport } from '../report.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

/** So long that only a handler that hangs reaches it. */
const timeout = 120_000;
const timesEmptyMax = 2.5;
const noCredentials = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' };
const env = { [environmentNames.stage]: 'bench', ...noCredentials };
const emptyHandler = 'exports.handler = awslambda.streamifyResponse(async () => {});';
/** What the Lambda runtime provides, as far as loading needs it. */
const loader = `
  globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (stream) => stream } };
  process.exit(typeof require(process.argv[1]).handler === 'function' ? 0 : 1);
`;

/** Those that clients wait for. */
const clientFunctions = ['gateway', 'models'] as const;

export async function measureStart({ folder }: TestBed, { starts }: BenchPlan): Promise<SectionReport> {
  const emptyFile = join(folder, 'empty.cjs');
  await writeFile(emptyFile, emptyHandler);
  const projectRoot = resolve(import.meta.dirname, '../../..');
  const bundles = await writeBundles(projectRoot, folder, clientFunctions);
  const handlers = [{ name: 'empty handler', file: emptyFile, bytes: emptyHandler.length }, ...bundles];
  const timed = handlers.map((handler) => ({ ...handler, ms: [] as number[] }));
  // The first turn fills the file cache and is not counted.
  for (let turn = 0; turn <= starts; turn += 1) {
    for (const { file, ms } of timed) {
      const startedAtMs = performance.now();
      await promisify(execFile)(process.execPath, ['--eval', loader, file], { env, timeout });
      if (turn > 0) ms.push(performance.now() - startedAtMs);
    }
  }
  const emptyMs = median(timed[0]?.ms ?? []);
  const rows = timed.map(({ name, bytes, ms }) => [name, bytes / 1_024, median(ms), median(ms) / emptyMs] as const);
  const columns = ['handler', 'KB', 'start ms', 'times empty'];
  return {
    tables: [{ title: 'Start of a process with the bundle', columns, rows }],
    targets: rows
      .slice(1)
      .flatMap(([name, kilobytes, , timesEmpty]) => [
        atMost(`bundle of ${name}`, kilobytes, bundleMaxBytes / 1_024, ' KB'),
        atMost(`start with ${name}, times that with an empty handler`, timesEmpty, timesEmptyMax),
      ]),
  };
}
