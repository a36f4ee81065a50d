// A call of one candidate, and what comes of it in the form of the client's interface. Types only.
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

export type CandidateOutcome =
  | { readonly kind: 'json'; readonly answer: JsonAnswer }
  | ({ readonly kind: 'stream' } & EventStream)
  | NoAnswer;
