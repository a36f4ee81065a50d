// Recreates the shipped list from the lists of other projects, and prints where they disagree (`npm run model-list`). A
// file on the command line is used as LiteLLM's list; otherwise pip fetches the newest list. `--differences` prints the
// differences of the shipped list, and changes nothing.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fromRow, type ListDocument } from '../../shared/configuration/model-list/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { runScript } from '../run-script.ts';
import type { LitellmList } from './litellm-row.ts';
import { readLitellm } from './read-litellm.ts';
import { comparisonOf, writeListDocument } from './write-list.ts';

const run = promisify(execFile);
const usage = 'npm run model-list [-- LITELLM.json | --differences]';
const listFile = new URL('../../shared/configuration/model-list/models.json', import.meta.url);
const manifest = new URL('../../package.json', import.meta.url);
/** Maximum size. The wheel has 40 MB, and the list 3 MB. */
const listMaxBytes = 64 * 1024 * 1024;
const fetchLimitMs = 300_000;

interface Fetched {
  readonly list: LitellmList;
  readonly version: string;
}

/** Fetches the list with pip and unzip, because the wheel is a zip file on PyPI. */
async function fetchList(): Promise<Fetched> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-model-list-'));
  try {
    await run('pip', ['download', 'litellm', '--no-deps', '--quiet', '--dest', folder], { timeout: fetchLimitMs });
    const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl')) ?? '';
    const file = 'litellm/model_prices_and_context_window_backup.json';
    const { stdout } = await run('unzip', ['-p', join(folder, wheel), file], { maxBuffer: listMaxBytes });
    return { list: JSON.parse(stdout), version: wheel.split('-')[1] ?? '' };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function printDifferences(): Promise<void> {
  const { date, models } = JSON.parse(await readFile(listFile, 'utf8')) as ListDocument;
  process.stdout.write(comparisonOf(models.map(fromRow), Date.parse(date)));
}

async function refresh(file: string | undefined): Promise<void> {
  const { list, version } =
    file === undefined ? await fetchList() : { list: JSON.parse(await readFile(file, 'utf8')), version: 'of a file' };
  const { devDependencies } = JSON.parse(await readFile(manifest, 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const second = `@pydantic/genai-prices ${devDependencies['@pydantic/genai-prices']}`;
  const { document, comparison } = writeListDocument(readLitellm(list), {
    source: `litellm ${version} on PyPI; prices of openrouter from ${second}`,
    nowMs: systemClock.nowMs(),
  });
  await writeFile(listFile, document);
  process.stdout.write(comparison);
}

const [argument] = process.argv.slice(2);
await runScript('model-list', () => (argument === '--differences' ? printDifferences() : refresh(argument)), usage);
