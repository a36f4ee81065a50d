// Defines the interface to the master key, which is in KMS in an account, and in a file on one machine. The tables
// contain only wrapped data keys, which are useless without it.
import { canonicalJson } from '../../foundation/ids/index.ts';

/**
 * Purpose and stage of an encrypted key. Every field is authenticated, and under KMS the fields are the encryption
 * context.
 */
export interface SealContext {
  readonly stage: string;
  readonly [name: string]: string;
}

export interface DataKey {
  /** The data key, 32 bytes. The caller overwrites it after use. */
  readonly clear: Buffer;
  /** The wrapped data key, which is safe to store. */
  readonly wrapped: Uint8Array;
  /** The ARN of the KMS key that wrapped the data key, which a new deployment must adopt. */
  readonly wrappedBy?: string | undefined;
}

export interface KeyWrapper {
  /** True if all processes on the store have the master key, wherever they run. */
  readonly isShared: boolean;
  createDataKey(context: SealContext): Promise<DataKey>;
  /**
   * Returns a new buffer with the clear data key, which the caller overwrites after use. Throws SealBroken if the
   * bytes were not wrapped here for this context; any other error means that the master key is unavailable now.
   */
  unwrap(wrapped: Uint8Array, context: SealContext): Promise<Buffer>;
}

/** Returns the context as additional authenticated data, which is unambiguous because the values are delimited. */
export const contextText = (context: SealContext): string => canonicalJson(context);
