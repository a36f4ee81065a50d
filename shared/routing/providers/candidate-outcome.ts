// Defines the outcome of a call of one candidate, as the client's interface reads it.

import type { ProviderApi } from '../../foundation/constants/index.ts';
import type { MultipartBody, TextWithFiles } from '../../protocol/forms/index.ts';
import type { AnswerParts } from '../../protocol/memory-budget/index.ts';
import type { JsonAnswer } from '../../protocol/wire/index.ts';
import type { AttemptFailure } from './classify.ts';
import type { EventBatch, StreamSource } from './stream-reader.ts';

export interface EventStream {
  readonly batches: AsyncGenerator<EventBatch, void, undefined>;
  /** Called at the end, because a socket that is read to its end serves the next call. */
  readonly drain: () => void;
}

/** The format in which a provider was called. */
export interface ReachedVia {
  readonly format: ProviderApi;
  /**
   * Fields of the request that the format cannot express, and that change little, as paths such as `tools.web_search`.
   */
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
  /** Returns the host of the call, if it differs from the host of the provider. */
  readonly hostname?: ((providerHostname: string) => string) | undefined;
  readonly accept: string;
  /** Method; default: POST. */
  readonly method?: 'GET' | 'DELETE' | undefined;
  /** Headers in addition to the headers of `send`; never a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Returns the body. `send` calls this function, because an error in it is a fault of the gateway, not of the
   * provider.
   */
  readonly body: () => string | MultipartBody | TextWithFiles;
}

/** An answer with a success status. */
export interface CandidateAnswer extends StreamSource {
  readonly contentType: string;
  /** Returns a header of the answer, by its name in lower case. */
  readonly header?: (name: string) => string | undefined;
  /** Reads a body to its end; undefined when it was larger than any answer, and was closed. */
  readonly readText: () => Promise<string | undefined>;
  /**
   * The body, as an alternative to `readText`. A reader that leaves early must call `drain` for the rest, because the
   * socket stays open.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Called when everything that is needed has arrived. No limit ends the call after that. */
  readonly drain: () => void;
}

export type NoAnswer = { readonly kind: 'failure'; readonly failure: AttemptFailure };

/** Opens a further call of the same attempt. The call has its own limits and memory, which end with the attempt. */
export type OpenPart = () => {
  readonly send: Send;
  /** Releases the memory of the answer except for the memory of these parts. */
  readonly keep: (parts: AnswerParts) => void;
  /** Returns true if it went to a pooled socket that had died. */
  readonly wasDead: () => boolean;
  /** Returns a failure if the provider finished an answer that is too long, or that had no memory. */
  readonly refused: () => AttemptFailure | undefined;
};

/**
 * Waits before a limited part is called again. Returns false if the call has no time for that, or has ended
 * meanwhile.
 */
export type Pause = (seconds: number) => Promise<boolean>;

/**
 * Sends a request. Adds URL, credential and signature, and measures silence by bytes. Rejects if the connection breaks
 * or the call is ended.
 */
export type Send = (request: CandidateRequest) => Promise<({ readonly kind: 'answer' } & CandidateAnswer) | NoAnswer>;

/** An answer as it came, whatever was requested. `readText` is for a whole answer, and `body` is for a stream. */
export type ReceivedAnswer = { readonly kind: 'answer'; readonly isStream: boolean } & CandidateAnswer;
export type ReceivingSend = (request: CandidateRequest) => Promise<ReceivedAnswer | NoAnswer>;
