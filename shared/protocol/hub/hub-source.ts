// The interface between a client's interface and the hub. Types only.
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { AnswerEvent, Envelopes, JsonAnswer } from '../wire/index.ts';
import type { HubCall, HubPart } from './hub-call.ts';
import type { Signatures } from './signatures.ts';

/** Why the model refused, where the provider explains it. */
export type RefusalOf = (metadata: SharedV4ProviderMetadata | undefined) => string | undefined;

/** Metadata of an answer that its provider does not send. */
export interface AnswerHead {
  /** Where the provider gives its answer none. */
  readonly id: string;
  readonly createdSeconds: number;
  /** Since the provider was asked. */
  readonly elapsedMs: () => number;
  /** The provider's name, and the client's. */
  readonly model: string;
  readonly clientModel: string;
  /** Used by an interface that reports it before the provider does. */
  readonly estimatedInputTokens: () => number;
  /** Readers of the model's signatures. */
  readonly origin: string;
  readonly readSigned: Signatures['readSigned'];
  readonly seal: Envelopes['seal'];
  /** Why the model refused, by the metadata of a result or of the last part. */
  readonly refusalOf: RefusalOf;
}

/** The part of an answer that the gateway needs: its text is written once, and not parsed again. */
export interface FoldedAnswer extends Omit<JsonAnswer, 'json' | 'model' | 'text'> {
  readonly whole: object;
  /** The answer around its text, where fields beside it are texts already. */
  readonly around?: (text: string) => string;
}

interface AnswerFold {
  /** Returns the events of a part, and keeps what the answer needs of them. */
  readonly write: (part: HubPart) => readonly object[];
  /** Called after the last part. */
  readonly answer: () => FoldedAnswer;
}

/** One call. Its writers know facts that its reader finds in the body: shortened names, repeated settings. */
export interface SourceCall {
  readonly call: HubCall;
  /** For one whole answer: folds the events of its parts. */
  readonly openFold: (head: AnswerHead) => AnswerFold;
  /** Set where its streams write one tool call at a time: parts of another one wait until it has ended. */
  readonly writesOneCallAtATime?: true;
  /**
   * Opens a writer for one stream: it returns the events of each part. The last part is `finish`; error parts are not
   * passed.
   */
  readonly openWriter: (head: AnswerHead) => (part: HubPart) => AnswerEvent[];
}

/**
 * `body`: the client's, whole. Anything that not every target supports is a need of the request (`hubNeeds`).
 * `nextStep`: awaited between steps, where the request is long. `envelopes`: opens thinking that clients send again.
 */
export type HubSource = (
  body: Readonly<Record<string, unknown>>,
  nextStep: () => Promise<void>,
  envelopes: Envelopes,
) => Promise<SourceCall>;
