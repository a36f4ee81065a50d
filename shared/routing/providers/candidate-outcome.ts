// Outcome of a call of one candidate, in the form of the client's interface.

import type { ProviderApi } from '../../foundation/constants/index.ts';
import type { MultipartBody, TextWithFiles } from '../../protocol/forms/index.ts';
import type { JsonAnswer } from '../../protocol/wire/index.ts';
import type { AttemptFailure } from './classify.ts';
import type { EventBatch, StreamSource } from './stream-reader.ts';

export interface EventStream {
  readonly batches: AsyncGenerator<EventBatch, void, undefined>;
  /** Called at the end: a socket that is read to its end serves the next call. */
  readonly drain: () => void;
}

/** How a provider was asked. */
export interface ReachedVia {
  readonly format: ProviderApi;
  /** Members of the request that the format has no words for, and that change little: paths, as `tools.web_search`. */
  readonly leftOut: readonly string[];
}

export type CandidateOutcome =
  | { readonly kind: 'json'; readonly answer: JsonAnswer; readonly reachedVia: ReachedVia }
  | ({ readonly kind: 'stream'; readonly reachedVia: ReachedVia } & EventStream)
  | NoAnswer;

// The way from a format to a provider. The gateway hands each format a `send` of its own, so that credentials, time limits
// and the classification of failures are the same for all.

export interface CandidateRequest {
  /** Behind the provider's base URL. */
  readonly path: string;
  /** Host of the call, where it is another than the provider's. */
  readonly hostname?: ((ofProvider: string) => string) | undefined;
  readonly accept: string;
  /** Default: POST. */
  readonly method?: 'GET' | 'DELETE' | undefined;
  /** Headers beside those of `send`; never a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Made by `send`: a fault in it is the gateway's, not the provider's. */
  readonly body: () => string | MultipartBody | TextWithFiles;
}

/** A success, as far as its status says. */
export interface CandidateAnswer extends StreamSource {
  readonly contentType: string;
  /** Of the answer, by its name in lower case. */
  readonly header?: (name: string) => string | undefined;
  /** Reads a body to its end; undefined when it was larger than any answer, and was closed. */
  readonly readText: () => Promise<string | undefined>;
  /** Alternative to `readText`. Leaving it early keeps the socket: `drain` the rest. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Everything that is wanted came: no limit ends the call any more. */
  readonly drain: () => void;
}

export type NoAnswer = { readonly kind: 'failure'; readonly failure: AttemptFailure };

/** Opens a call beside others of one attempt: its limits and its memory are its own, and end with the attempt. */
export type OpenPart = () => {
  readonly send: Send;
  /** Releases the memory of its answer but for so many bytes. */
  readonly keep: (bytes: number) => void;
  /** It went to a kept socket that had died. */
  readonly wasDead: () => boolean;
  /** Set where its provider finished an answer that is too long, or that there was no memory for. */
  readonly refused: () => AttemptFailure | undefined;
};

/** Waits before a limited part is asked again. False where the call has no such time, or has ended meanwhile. */
export type Pause = (seconds: number) => Promise<boolean>;

/** Adds URL, credential and signature, times silence by bytes. Rejects where the connection breaks or the call is ended. */
export type Send = (request: CandidateRequest) => Promise<({ readonly kind: 'answer' } & CandidateAnswer) | NoAnswer>;

/** As it came, whatever was asked for: `readText` is of a whole answer, `body` of a stream. */
export type ReceivedAnswer = { readonly kind: 'answer'; readonly isStream: boolean } & CandidateAnswer;
export type ReceivingSend = (request: CandidateRequest) => Promise<ReceivedAnswer | NoAnswer>;
