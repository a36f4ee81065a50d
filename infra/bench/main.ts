// `npm run bench`: measures this checkout on this machine, offline but for --portkey.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { fetchTree } from './against/other-tree.ts';
import { runAgainst } from './against/run-against.ts';
import { readOptions, usage } from './bench-options.ts';
import { runBench } from './run-bench.ts';

/** The longest section takes twenty minutes, beside the time that is asked for. Children end with this process. */
const sectionsTimeoutMs = 2_400_000;

const folder = await mkdtemp(join(tmpdir(), 'gw-bench-'));
try {
  const options = readOptions(process.argv.slice(2));
  systemClock.after(sectionsTimeoutMs + options.plan.hostile.minutes * 60_000, () => {
    throw new Error('the bench takes too long');
  });
  const print = (text: string) => void process.stdout.write(text);
  const results =
    options.against === undefined
      ? await runBench(options, folder, print)
      : await runAgainst({ ...options, other: await fetchTree(options.against, folder) }, folder, print);
  if (options.jsonFile !== undefined) await writeFile(options.jsonFile, `${JSON.stringify(results, undefined, 2)}\n`);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\nusage: ${usage}\n`);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit();
