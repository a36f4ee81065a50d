// Defines the outcome of a call of one candidate, as the client's interface reads it.

import type { ProviderApi } from '../../foundation/constants/index.ts';
import type { MultipartBody, TextWithFiles } from '../../protocol/forms/index.ts';
import type { AnswerParts } from '../../protocol/memory-budget/index.ts';
import type { JsonAnswer } from '../../protocol/wire/index.ts';
import type { AttemptFailure } from './classify.ts';
import type { EventBatch, StreamSource } from './stream-reader.ts';

export interface EventStream {
  readonly batches: AsyncGenerator<EventBatch, void, undefined>;
  /** Called at the end: a socket that is read to its end serves the next call. */
  readonly drain: () => void;
}

/** The format in which a provider was called. */
export interface ReachedVia {
  readonly format: ProviderApi;
  /** Fields of the request that the format cannot express, and that change little: paths such as `tools.web_search`. */
  readonly leftOut: readonly string[];
}

export type CandidateOutcome =
  | { readonly kind: 'json'; readonly answer: JsonAnswer; readonly reachedVia: ReachedVia }
  | ({ readonly kind: 'stream'; readonly reachedVia: ReachedVia } & EventStream)
  | NoAnswer;

// The path from a format to a provider. The gateway passes each format a `send` of its own, so that credentials, time
// limits and the classification of failures are the same for all.

export interface CandidateRequest {
  /** Path after the provider's base URL. */
  readonly path: string;
  /** Returns the host of the call, if it differs from the provider's. */
  readonly hostname?: ((ofProvider: string) => string) | undefined;
  readonly accept: string;
  /** Method; default: POST. */
  readonly method?: 'GET' | 'DELETE' | undefined;
  /** Headers besides those of `send`; never a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the body; `send` calls it, because a fault in it is the gateway's, not the provider's. */
  readonly body: () => string | MultipartBody | TextWithFiles;
}

/** An answer with a success status. */
export interface CandidateAnswer extends StreamSource {
  readonly contentType: string;
  /** Returns a header of the answer, by its name in lower case. */
  readonly header?: (name: string) => string | undefined;
  /** Reads a body to its end; undefined when it was larger than any answer, and was closed. */
  readonly readText: () => Promise<string | undefined>;
  /** The body, as an alternative to `readText`. Leaving it early keeps the socket: `drain` the rest. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Called when everything that is needed has arrived: no limit ends the call any more. */
  readonly drain: () => void;
}

export type NoAnswer = { readonly kind: 'failure'; readonly failure: AttemptFailure };

/** Opens a call besides others of one attempt: its limits and its memory are its own, and end with the attempt. */
export type OpenPart = () => {
  readonly send: Send;
  /** Releases the memory of its answer except for that of these parts. */
  readonly keep: (parts: AnswerParts) => void;
  /** Returns true if it went to a pooled socket that had died. */
  readonly wasDead: () => boolean;
  /** Set if its provider finished an answer that is too long, or that had no memory. */
  readonly refused: () => AttemptFailure | undefined;
};

/**
 * Waits before a limited part is called again. Returns false if the call has no time for that, or has ended
 * meanwhile.
 */
export type Pause = (seconds: number) => Promise<boolean>;

/**
 * Sends a request: adds URL, credential and signature, and measures silence by bytes. Rejects if the connection
 * breaks or the call is ended.
 */
export type Send = (request: CandidateRequest) => Promise<({ readonly kind: 'answer' } & CandidateAnswer) | NoAnswer>;

/** An answer as it came, whatever was requested: `readText` is for a whole answer, `body` for a stream. */
export type ReceivedAnswer = { readonly kind: 'answer'; readonly isStream: boolean } & CandidateAnswer;
export type ReceivingSend = (request: CandidateRequest) => Promise<ReceivedAnswer | NoAnswer>;
