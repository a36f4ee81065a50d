// Wraps data keys with the master key of a local run: 32 random bytes in a file that only its owner may read, or in
// memory if no data are stored. The master key protects a copied table, not a disk that others can read; in an account
// KMS does the wrapping.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Randomness, systemRandomness } from '../../foundation/ids/index.ts';
import { decrypt, encrypt, joinEncrypted, keyBytes, splitEncrypted } from './aes-gcm.ts';
import { contextText, type KeyWrapper } from './key-wrapper.ts';

export const masterKeyFile = 'byok-master.key';
const folderMode = 0o700;
const fileMode = 0o600;

interface LocalKeyWrapperOptions {
  /**
   * Folder that stores the master key between runs, created if it does not exist. Without it the key ends with the
   * process.
   */
  readonly folder?: string | undefined;
  readonly randomness?: Randomness;
  /** False if no master key may be made. Without a master key nothing opens. Default true. */
  readonly makesKey?: boolean;
}

/**
 * Creates the wrapper, and reads or makes the master key at once. Throws an Error for the operator when the file cannot
 * be used.
 */
export function localKeyWrapper(options: LocalKeyWrapperOptions = {}): KeyWrapper {
  const { folder, randomness = systemRandomness, makesKey = true } = options;
  const master = folder === undefined ? randomness.bytes(keyBytes) : masterKeyIn(folder, randomness, makesKey);
  return {
    // Gateways on several machines share a server of the store, but no folder.
    isShared: false,
    async createDataKey(context) {
      const clear = randomness.bytes(keyBytes);
      return { clear, wrapped: joinEncrypted(encrypt(master, clear, contextText(context), randomness)) };
    },
    async unwrap(wrapped, context) {
      return decrypt(master, splitEncrypted(wrapped), contextText(context));
    },
  };
}

function masterKeyIn(folder: string, randomness: Randomness, makesKey: boolean): Buffer {
  const path = join(folder, masterKeyFile);
  const master = readIfThere(path) ?? (makesKey ? create(folder, path, randomness) : randomness.bytes(keyBytes));
  if (master.byteLength !== keyBytes) {
    throw new Error(
      `${path} does not hold a master key of ${keyBytes} bytes; without it, stored BYOK keys cannot open`,
    );
  }
  return master;
}

/**
 * Creates the file. Gateways that start together on one folder must use one key, so linking fails if the name is taken.
 */
function create(folder: string, path: string, randomness: Randomness): Buffer {
  mkdirSync(folder, { recursive: true, mode: folderMode });
  const unfinished = `${path}.${randomness.uuid()}.part`;
  try {
    writeFileSync(unfinished, randomness.bytes(keyBytes), { mode: fileMode, flag: 'wx', flush: true });
    linkSync(unfinished, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
  return readFileSync(path);
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;
