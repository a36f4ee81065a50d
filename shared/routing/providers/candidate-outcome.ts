// What comes of a call of one candidate, in the form of the client's interface.
import type { ProviderApi } from '../../foundation/constants/index.ts';
import type { JsonAnswer } from '../../protocol/interfaces/index.ts';
import type { NoAnswer } from './send.ts';
import type { EventBatch } from './stream-reader.ts';

export interface EventStream {
  readonly batches: AsyncGenerator<EventBatch, void, undefined>;
  /** Called at the end: a socket that is read to its end serves the next call. */
  readonly drain: () => void;
}

/** How a provider was asked. */
export interface Spoken {
  readonly format: ProviderApi;
  /** Members of the request that the format has no words for, and that change little: paths, as `tools.web_search`. */
  readonly leftOut: readonly string[];
}

export type CandidateOutcome =
  | { readonly kind: 'json'; readonly answer: JsonAnswer; readonly spoken: Spoken }
  | ({ readonly kind: 'stream'; readonly spoken: Spoken } & EventStream)
  | NoAnswer;
