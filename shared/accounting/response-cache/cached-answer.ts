// An answer that may be given again, as the provider gave it: our own members are added anew for every reader.

/** Tokens as they were billed, the ground of the usage members. */
export interface CachedUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly estimated: boolean;
}

/** The text of each event, beside its name where it has one. */
export type KeptEvents = readonly (string | readonly [name: string, text: string])[];

export interface CachedAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The JSON text of the provider, or every event of a stream that came to its end. */
  readonly content:
    | { readonly kind: 'json'; readonly text: string }
    | { readonly kind: 'stream'; readonly chunks: KeptEvents };
  /** Who answered: ids of provider and catalogue model. */
  readonly provider: string;
  readonly model: string;
  readonly usage: CachedUsage;
}
