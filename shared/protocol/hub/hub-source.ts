// Defines what a client's interface implements, so that its requests can be translated to any format. This module is
// also the only place that gives turns of the event loop while a request is read.
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import { type AnswerEvent, type Envelopes, isJsonObject, type JsonAnswer, type JsonObject } from '../wire/index.ts';
import type { HubCall, HubPart, OptionalMember } from './hub-call.ts';
import type { Signatures } from './signatures.ts';

/** Returns why the model refused, if the provider explains it. */
export type RefusalOf = (metadata: SharedV4ProviderMetadata | undefined) => string | undefined;

/** Metadata of an answer that its provider does not send. */
export interface AnswerHead {
  /** Id of an answer in which the provider states none. */
  readonly id: string;
  readonly createdSeconds: number;
  /** Returns the milliseconds since the provider was called. */
  readonly elapsedMs: () => number;
  /** The provider's name of the model, and the client's name of the model. */
  readonly model: string;
  readonly clientModel: string;
  /** Returns an estimate, for an interface that reports the input before the provider does. */
  readonly estimatedInputTokens: () => number;
  /** The group of models that can read this model's signatures. */
  readonly origin: string;
  readonly readSigned: Signatures['readSigned'];
  readonly seal: Envelopes['seal'];
  /** Returns why the model refused, from the metadata of a result or of the last part. */
  readonly refusalOf: RefusalOf;
}

/** The parts of an answer that the gateway needs. Its text is written once, and not parsed again. */
export interface FoldedAnswer extends Omit<JsonAnswer, 'json' | 'model' | 'text'> {
  readonly whole: object;
  /** Returns the answer around its text, if the fields next to the text are JSON text already. */
  readonly around?: (text: string) => string;
}

interface AnswerFold {
  /** Returns the events of a part, and collects what the answer needs of them. */
  readonly write: (part: HubPart) => readonly object[];
  /** Called after the last part. */
  readonly answer: () => FoldedAnswer;
}

/** One call. Its writers use facts that its reader found in the body, such as shortened names and repeated settings. */
export interface SourceCall {
  readonly call: HubCall;
  /** Opens a fold for one whole answer, which assembles the events of its parts. */
  readonly openFold: (head: AnswerHead) => AnswerFold;
  /**
   * Set if its streams write one tool call at a time. Parts of another call then wait until the first call has ended.
   */
  readonly writesOneCallAtATime?: true;
  /**
   * Opens a writer for one stream, which returns the events of each part. The last part is `finish`; error parts are
   * not passed.
   */
  readonly openWriter: (head: AnswerHead) => (part: HubPart) => AnswerEvent[];
}

/** Reads the conversation of a request to a prompt. */
export interface PromptReader {
  readonly read: SourceReader['read'];
  readonly prompt: HubCall['prompt'];
  /** The first field with thinking that this workspace did not get from the gateway. */
  readonly unknownFields: readonly OptionalMember[];
}

/** Reads a call from the conversation and then the rest of a request. */
export interface CallReader {
  readonly read: SourceReader['read'];
  readonly end: () => HubCall;
}

/** Reads one call. The conversation is read message by message, then the rest. */
export interface SourceReader {
  /** The messages, items or contents, as the client sent them. */
  readonly conversation: unknown;
  /** Called with each object of the conversation, from the first to the last. */
  readonly read: (message: JsonObject, at: number) => void;
  /** Called after the last object. */
  readonly end: () => SourceCall;
}

/**
 * Opens a reader of a request. `body` is the client's complete body. Every feature that some targets do not support is
 * a need of the request (`hubNeeds`). `envelopes` opens thinking that clients send again.
 */
export type HubSource = (body: JsonObject, envelopes: Envelopes) => SourceReader;

/** Reads a request, with turns of the event loop for others while its conversation is long. */
export async function readCall({ conversation, read, end }: SourceReader): Promise<SourceCall> {
  if (!Array.isArray(conversation)) return end();
  for (const [at, message] of conversation.entries()) {
    if (isJsonObject(message)) read(message, at);
    if (at % inOneTurn.items === inOneTurn.items - 1) await nextTurn();
  }
  return end();
}
