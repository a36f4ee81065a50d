// A call of one candidate, and what comes of it in the form of the client's interface. Types only.
import type { ProviderApi } from '../../foundation/constants/index.ts';
import type { ClientInterface, ClientRequest, JsonAnswer, PassedOn } from '../../protocol/interfaces/index.ts';
import type { EventBatch, NoAnswer } from '../providers/index.ts';

export interface CandidateCall {
  readonly clientInterface: ClientInterface;
  readonly request: ClientRequest;
  readonly passedOn: PassedOn;
  /** Names an answer to which the provider gives no id. */
  readonly correlationId: string;
  readonly createdSeconds: number;
  /** No provider may keep anything of the call. */
  readonly zdr: boolean;
}

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
