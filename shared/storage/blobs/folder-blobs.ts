// Blobs as files of one folder, for local runs that keep their data. A file appears under its name only when it is
// whole, so several gateways may share the folder and a crash leaves no half of a blob.
import { mkdir, opendir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Randomness, systemRandomness } from '../../foundation/ids/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';
import { type BlobStore, blobLifeSeconds, checkBlobKey } from './blob-store.ts';

/** Files live for days: an hour late is early enough. */
const sweepEveryMs = 60 * 60 * 1000;
/** The folder contains clients' requests and models' answers: no other user of the machine may read it. */
const folderMode = 0o700;
const fileMode = 0o600;

export interface FolderBlobsOptions {
  readonly clock?: Clock;
  readonly randomness?: Randomness;
}

/** The folder is made on the first put. Files in it that are older than `blobLifeSeconds` are removed now and then. */
export function folderBlobs(
  folder: string,
  { clock = systemClock, randomness = systemRandomness }: FolderBlobsOptions = {},
): BlobStore {
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  return {
    async put(key, bytes, { signal } = {}) {
      checkBlobKey(key);
      await mkdir(folder, { recursive: true, mode: folderMode });
      const nowMs = clock.nowMs();
      if (nowMs - sweptAtMs >= sweepEveryMs) {
        sweptAtMs = nowMs;
        await sweep(folder, nowMs - blobLifeSeconds * 1000);
      }
      const unfinished = join(folder, `${key}.${randomness.uuid()}.part`);
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
  };
}

const signalOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

const isMissing = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 'ENOENT';

/** A file that cannot be removed, or that another gateway removed first, is no reason to lose the blob of this call. */
async function sweep(folder: string, olderThanMs: number): Promise<void> {
  try {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isFile() && (await stat(path)).mtimeMs < olderThanMs) await rm(path, { force: true });
    }
  } catch {}
}
