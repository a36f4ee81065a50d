// How long each bundle takes to be ready, against a handler that does nothing: from the start of a Node process until the
// handler is loaded, in turns. On Lambda the same work takes three to five times as long.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { environmentNames } from '../../../shared/foundation/constants/index.ts';
import { systemClock, within } from '../../../shared/foundation/time/index.ts';
import { bundleFunction, functionNames } from '../../build/bundle.ts';
import type { BenchPlan } from '../bench-plan.ts';
import { median } from '../figures.ts';
import { endChild } from '../processes/start-child.ts';

export interface StartRow {
  readonly name: string;
  readonly bytes: number;
  /** Medians. */
  readonly startMs: number;
  /** Of them: loading the bundle, inside the process. */
  readonly loadMs: number;
  readonly timesEmpty: number;
}

const startTimeoutMs = 10_000;
const emptyHandler = 'exports.handler = awslambda.streamifyResponse(async () => {});';

/** What the Lambda runtime provides, as far as loading needs it; then the time that loading took. */
const loader = `
  globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (stream) => stream } };
  const startedMs = performance.now();
  if (typeof require(process.argv[2]).handler !== 'function') throw new Error('it exports no handler');
  process.stdout.write(String(performance.now() - startedMs), () => process.exit(0));
`;

/** Bundles are built into `folder`. */
export async function measureStart({ starts }: Pick<BenchPlan, 'starts'>, folder: string): Promise<StartRow[]> {
  const projectRoot = resolve(import.meta.dirname, '../../..');
  const loaderFile = join(folder, 'load.cjs');
  const emptyFile = join(folder, 'empty.cjs');
  await mkdir(folder, { recursive: true });
  await Promise.all([writeFile(loaderFile, loader), writeFile(emptyFile, emptyHandler)]);
  const bundles = await Promise.all(functionNames.map((name) => bundleFunction(projectRoot, folder, name)));
  const handlers = [{ name: 'empty handler', file: emptyFile, bytes: emptyHandler.length }, ...bundles];
  const timed = handlers.map(() => [] as Started[]);
  // Turn 0 fills the file cache and is not counted.
  for (let turn = 0; turn <= starts; turn += 1) {
    for (const [index, { file }] of handlers.entries()) {
      const started = await startOnce(loaderFile, file);
      if (turn > 0) timed[index]?.push(started);
    }
  }
  const rows = handlers.map(({ name, bytes }, index) => {
    const times = timed[index] ?? [];
    return { name, bytes, startMs: median(times.map((t) => t.startMs)), loadMs: median(times.map((t) => t.loadMs)) };
  });
  const emptyMs = rows[0]?.startMs ?? Number.NaN;
  return rows.map((row) => ({ ...row, timesEmpty: row.startMs / emptyMs }));
}

interface Started {
  readonly startMs: number;
  readonly loadMs: number;
}

async function startOnce(loaderFile: string, file: string): Promise<Started> {
  const env = {
    [environmentNames.stage]: 'bench',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'none',
    AWS_SECRET_ACCESS_KEY: 'none',
  };
  const startedMs = performance.now();
  const child = spawn(process.execPath, [loaderFile, file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const loaded = once(child.stdout, 'data') as Promise<[Buffer]>;
    const [text] = await within(systemClock, startTimeoutMs, loaded, () => new Error(`${file} does not load`));
    return { startMs: performance.now() - startedMs, loadMs: Number(text) };
  } finally {
    await endChild(child);
  }
}
