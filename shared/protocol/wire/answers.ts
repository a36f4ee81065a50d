// Defines the answer of a provider as the interface of its client reads it, whole, or event by event. Types only.
import type { EventText } from '../server-sent-events/index.ts';
import type { JsonText } from './json-text.ts';
import type { Units, UsageReport } from './usage-report.ts';

/** Metadata of an answer, or of one event of it, from the provider. */
export interface AnswerDetails {
  /** The provider's name for the model, if the provider sends it. */
  readonly model?: string | undefined;
  /** Finish reasons of the choices that have ended, in the interface's own words. */
  readonly finishReasons?: readonly string[] | undefined;
  /** Ids under which the provider stores the answer and its items, if the provider reports that it stores them. */
  readonly storedIds?: readonly string[] | undefined;
  /**
   * Ids of other objects that the provider keeps, whether or not it stores the answer, such as containers, files in
   * containers, and audio.
   */
  readonly objectIds?: readonly string[] | undefined;
  /** Counted outputs that may have prices of their own. */
  readonly units?: Units | undefined;
}

export interface JsonAnswer extends AnswerDetails {
  /** Text that is sent and stored, which is JSON, parsed as far as the interface reads it, or plain text. */
  readonly text: string;
  readonly json: JsonText;
  readonly isPlain?: true;
  readonly usage: UsageReport | undefined;
  /** Bytes of text that the model wrote, for the estimate if a provider reports no usage. */
  readonly outputBytes: number;
}

export type ReadAnswer =
  | { readonly kind: 'answer'; readonly answer: JsonAnswer }
  /** An error object inside a 200, which SDKs would interpret as an answer. */
  | { readonly kind: 'error'; readonly error: unknown }
  /** The answer is finished, and exceeds the bounds of an answer. */
  | { readonly kind: 'refused'; readonly refused: UnusedAnswer }
  | { readonly kind: 'unreadable' };

/** Figures by which an answer that is not passed on is charged. */
export interface UnusedAnswer extends Pick<AnswerDetails, 'units'> {
  readonly usage: UsageReport | undefined;
  readonly outputBytes: number;
  /** Tokens in addition to the reported tokens, for a stream that its client left before its first output. */
  readonly unseenTokens?: number;
}

/** The gateway's fields for the price of an answer. */
export interface AnswerCost {
  /** The workspace's price, an exact decimal string. */
  readonly costUsd: string;
  /** The cost as a JSON number. */
  readonly cost: number;
  /** The provider's `usage` with every field that the gateway can add. */
  readonly mergedUsage: () => Record<string, unknown>;
}

export interface WrittenAnswer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An event of a provider, parsed. Its text is relayed byte for byte. */
export interface AnswerEvent extends EventText {
  readonly json: JsonText;
  readonly details: EventDetails;
}

export interface EventDetails extends AnswerDetails {
  /** Set if the event is a piece of an answer with this type, whose bytes are the characters of the text. */
  readonly contentType?: string | undefined;
  /**
   * True once there is output that a client can use, or the model has started to think. Until then another provider may
   * answer.
   */
  readonly hasOutput: boolean;
  /** True for thinking and nothing else: the next output may take long. */
  readonly isOnlyThinking?: boolean | undefined;
  /** True for the event that ends the stream without an error, which a client gets after the answer is stored. */
  readonly isLast: boolean;
  /** Set for a marker that some servers write after the last event, and that is not an event of the interface. */
  readonly isEndMarker?: true;
  readonly usage: UsageReport | undefined;
  /** Bytes as in `JsonAnswer`. */
  readonly outputBytes: number;
}

export type EventReading =
  | { readonly kind: 'event'; readonly event: AnswerEvent }
  /** The end marker, which is not relayed. */
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: unknown }
  /** The text is not a JSON object, or exceeds the bounds of an answer. The stream is then broken. */
  | { readonly kind: 'unreadable' };

export interface EventReader {
  readonly read: (event: EventText) => EventReading;
  /** Returns true if the answer is complete, however the connection ends. */
  readonly isComplete: () => boolean;
  /** Set if an end marker may follow its last event. */
  readonly mayBeMarked?: true;
}
