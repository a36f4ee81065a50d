// Seals provider keys of customers: they are encrypted under a data key that only the key wrapper can open, and bound
// to their place. In another workspace, at another provider or in another stage a sealed key cannot be opened.

import { storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type Clock, waitAtMost } from '../../foundation/time/index.ts';
import { StoreUnavailable } from '../../storage/store/index.ts';
import { decrypt, type EncryptedText, encrypt, SealBroken } from './aes-gcm.ts';
import { createDataKeys } from './data-keys.ts';
import { contextText, type KeyWrapper, type SealContext } from './key-wrapper.ts';

const formatVersion = 1;

/**
 * The stored form, field by field. Stored forms cannot be compared, because one key encrypted twice gives two different
 * texts.
 */
export interface SealedKey {
  readonly v: number;
  readonly wrapped_key: Uint8Array;
  /** The ARN of the KMS key that wrapped the data key. Absent if a local master key wrapped it. */
  readonly wrapped_by?: string;
  readonly iv: Uint8Array;
  readonly tag: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/**
 * Place of a key: the connection of a workspace, identified by its provider. The key can be decrypted for this place
 * only.
 */
interface KeyPlace {
  readonly workspace: string;
  readonly provider: string;
}

export interface KeyVault {
  /**
   * Seals a key for the operator. Throws StoreUnavailable if the wrapper does not answer in time, or the wrapper's
   * own error.
   */
  seal(place: KeyPlace, key: string): Promise<SealedKey>;
  /**
   * Returns the clear key, for one header, and never for a log, an error or a table. Throws SealBroken and
   * StoreUnavailable.
   */
  open(place: KeyPlace, sealed: SealedKey): Promise<string>;
}

interface KeyVaultOptions {
  readonly wrapper: KeyWrapper;
  readonly stage: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Time limit of one call of the wrapper. Default `storeCallTimeoutMs`. */
  readonly callTimeoutMs?: number;
}

export function createKeyVault(options: KeyVaultOptions): KeyVault {
  const { wrapper, stage, clock, randomness, callTimeoutMs = storeCallTimeoutMs } = options;
  const dataKeys = createDataKeys({ wrapper, clock, callTimeoutMs });
  const contextOf = ({ workspace, provider }: KeyPlace): SealContext => ({ workspace, connection: provider, stage });
  return {
    async seal(place, key) {
      const context = contextOf(place);
      const creation = wrapper.createDataKey(context);
      const { clear, wrapped, wrappedBy } = await waitAtMost(clock, callTimeoutMs, creation, () => {
        throw new StoreUnavailable('key wrapper timeout');
      });
      try {
        const encrypted = encrypt(clear, Buffer.from(key), contextText(context), randomness);
        const wrapperField = wrappedBy === undefined ? {} : { wrapped_by: wrappedBy };
        return { v: formatVersion, wrapped_key: wrapped, ...wrapperField, ...encrypted };
      } finally {
        clear.fill(0);
      }
    },
    async open(place, sealed) {
      if (sealed.v !== formatVersion) throw new SealBroken();
      const context = contextOf(place);
      try {
        return await dataKeys.use(sealed.wrapped_key, context, (clear) => textOf(clear, sealed, context));
      } catch (error) {
        throw error instanceof SealBroken ? new SealBroken(sealed.wrapped_by) : error;
      }
    },
  };
}

function textOf(dataKey: Buffer, sealed: EncryptedText, context: SealContext): string {
  const bytes = decrypt(dataKey, sealed, contextText(context));
  const text = bytes.toString('utf8');
  bytes.fill(0);
  return text;
}

/** A vault for a process that may read connections, and has no right to decrypt or encrypt their keys. */
export const closedVault: KeyVault = {
  seal: () => Promise.reject(new Error('keys of connections are not sealed here')),
  open: () => Promise.reject(new Error('keys of connections are not opened here')),
};
