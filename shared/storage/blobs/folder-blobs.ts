// Blobs as files of one folder, for local runs that keep their data. A file gets its name only when it is complete, so
// several gateways may share the folder and a crash leaves no partial blob.
import { mkdir, opendir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Randomness, systemRandomness } from '../../foundation/ids/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';
import { type BlobStore, blobLifeMs, checkBlobKey } from './blob-store.ts';

/** The folder contains clients' requests and models' answers, so no other user of the machine may read it. */
const folderMode = 0o700;
const fileMode = 0o600;

interface FolderBlobsOptions {
  readonly clock?: Clock;
  readonly randomness?: Randomness;
}

/** Opens the storage. The folder is made on the first put. */
export function folderBlobs(
  folder: string,
  { clock = systemClock, randomness = systemRandomness }: FolderBlobsOptions = {},
): BlobStore {
  return {
    async put(key, bytes, { signal } = {}) {
      checkBlobKey(key);
      await mkdir(folder, { recursive: true, mode: folderMode });
      const unfinished = join(folder, `${key}.${randomness.uuid()}${unfinishedEnding}`);
      try {
        await writeFile(unfinished, bytes, { mode: fileMode, flush: true, ...signalOf(signal) });
        await rename(unfinished, join(folder, key));
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },
    async get(key, { signal } = {}) {
      checkBlobKey(key);
      try {
        return await readFile(join(folder, key), signalOf(signal));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    sweep: () => sweep(folder, clock.nowMs()),
  };
}

const unfinishedEnding = '.part';

const signalOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

const isMissing = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'ENOENT';

/**
 * Removes expired files. An unfinished file has the shortest lifetime. A folder that cannot be read, or does not exist
 * yet, is skipped.
 */
async function sweep(folder: string, nowMs: number): Promise<void> {
  try {
    for await (const entry of await opendir(folder)) if (entry.isFile()) await removeExpired(folder, entry.name, nowMs);
  } catch {}
}

/**
 * Removes a file if it has expired. A file that cannot be removed, or that another gateway removed first, does not
 * prevent the removal of others.
 */
async function removeExpired(folder: string, name: string, nowMs: number): Promise<void> {
  const path = join(folder, name);
  const lifeMs = blobLifeMs(name.endsWith(unfinishedEnding) ? '' : name);
  try {
    if ((await stat(path)).mtimeMs + lifeMs < nowMs) await rm(path, { force: true });
  } catch {}
}
