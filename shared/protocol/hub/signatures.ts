// Signatures and encrypted texts of thinking, independent of packages. Types only.
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';

/** Who signed. */
export interface SignedBy {
  /** The provider's name. */
  readonly model: string;
  readonly provider: { readonly id: string };
}

/** A provider's signature or encrypted text of thinking. */
export interface Signed {
  /** Signature of the part that it comes with. */
  readonly signature?: string;
  /** Thinking that is encrypted as a whole. */
  readonly encrypted?: string;
  /** The provider's phase of a text, in requests only. */
  readonly phase?: string;
}

export type SignedPart = 'text' | 'reasoning' | 'tool-call' | 'file';

/** How a target keeps the signatures of its models. */
export interface Signatures {
  /** Readers of its models' signatures. */
  readonly originOf: (by: SignedBy) => string;
  /** Reads its package's signature of a part. */
  readonly readSigned: (metadata: SharedV4ProviderMetadata | undefined) => Signed;
  /**
   * The same in the words of its package, for a part that is sent again; undefined where such a part cannot carry it.
   */
  readonly signedOptions: (
    part: SignedPart,
    signed: Signed,
  ) => Readonly<Record<string, Record<string, string>>> | undefined;
}
