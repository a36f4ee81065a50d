// What a client can do about an error. One sentence or two each; the status and the retry advice stand in shared/errors.
export interface ErrorGuide {
  /** When the gateway answers so. */
  readonly cause: string;
  /** What makes the next call succeed, and who can do it. */
  readonly cure: string;
}

/** A code without its guide does not compile. */
export type GuideOf<Family extends object> = { readonly [Code in keyof Family]: ErrorGuide };
