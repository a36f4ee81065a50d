// Defines signatures and encrypted text of thinking, independent of packages. Types only.
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';

/** The model and provider that signed. */
export interface Signer {
  /** The provider's name of the model. */
  readonly model: string;
  readonly provider: { readonly id: string };
}

/** A provider's signature or encrypted text of thinking. */
export interface SignedThinking {
  /** Signature of the part that it comes with. */
  readonly signature?: string;
  /** Thinking that is encrypted as a whole. */
  readonly encrypted?: string;
  /** The provider's phase of a text, in requests only. */
  readonly phase?: string;
}

export type SignedPart = 'text' | 'reasoning' | 'tool-call' | 'file';

/** A target's handling of its models' signatures. */
export interface Signatures {
  /** Returns the group of models that can read this model's signatures. */
  readonly originOf: (by: Signer) => string;
  /** Reads its package's signature of a part. */
  readonly readSigned: (metadata: SharedV4ProviderMetadata | undefined) => SignedThinking;
  /**
   * Returns the options of the package for a signed part that is sent again; undefined if such a part cannot carry
   * the signature.
   */
  readonly signedOptions: (
    part: SignedPart,
    signed: SignedThinking,
  ) => Readonly<Record<string, Record<string, string>>> | undefined;
}
