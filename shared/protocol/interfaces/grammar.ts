// Defines the grammar of an interface's bodies: texts that a model reads and writes, the end of a blocked answer, the
// other delivery, the turns. This module is loaded on demand, and independent of guardrails and providers.
import type { TurnsOfBodies } from '../conversation/index.ts';
import type { AnswerEvent, EventText, JsonAnswer, JsonText } from '../wire/index.ts';

export interface InterfaceGrammar {
  /**
   * Yields every text of a request that a model reads, in the order of the body, and undefined if other work may
   * run.
   */
  readonly textsOfRequest: (json: JsonText) => Iterable<FoundText | undefined>;
  /** True if input is written in the tokens of a model, which no guardrail can read. */
  readonly hasTokens: (json: JsonText) => boolean;
  /**
   * Returns the field that makes the model think, if the turn needs thinking that is no longer in the conversation, so
   * that its provider would refuse the turn.
   */
  readonly thinkingToStop: (json: JsonText) => string | undefined;
  /** Undefined if the interface's answers have no text, because they are vectors, audio, a ranking or flags. */
  readonly answers: AnswerTexts | undefined;
  /**
   * Converts a whole answer to a stream and the reverse, or bytes to events and the reverse. Undefined if its
   * answers have one delivery only.
   */
  readonly otherDelivery: OtherDelivery | BytesDelivery | undefined;
  /** Undefined if its calls are not a conversation. */
  readonly turns: TurnsOfBodies | undefined;
}

/** A text in a body. */
export interface FoundText {
  /** Position of its value in the JSON. */
  readonly value: number;
  readonly text: string;
  /**
   * `call` means arguments of a tool call. `name` is the name of a tool, a parameter or a message. A match that would
   * mask arguments or a name blocks the call.
   */
  readonly kind: 'text' | 'call' | 'name';
  /**
   * The item that contains the text together with a signature. Its provider would refuse the item with a changed text.
   */
  readonly signedItem?: number | undefined;
}

/**
 * A text of one event, or the signature of texts. The text is a piece that other events continue, or a complete text.
 */
export interface EventPiece extends Omit<FoundText, 'kind'> {
  readonly kind: FoundText['kind'] | 'signature';
  /**
   * Names the text to which the piece belongs; for a signature, the prefix of its texts' names. Undefined for a
   * complete text.
   */
  readonly channel: string | undefined;
}

/** Texts that a model wrote, and the end of a blocked answer. */
export interface AnswerTexts {
  /** Yields the texts of an answer, as `textsOfRequest` does for a request. */
  readonly answerTexts: (json: JsonText) => Iterable<FoundText | undefined>;
  readonly eventPieces: (json: JsonText) => EventPiece[];
  /** True if each event is complete, so that it waits for no other. */
  readonly eventsStandAlone: boolean;
  /** Fields whose lists repeat a text as tokens or words, and which are emptied when that text is masked. */
  readonly spellingFields: ReadonlySet<string>;
  /** Returns a blocked answer. It is built from known fields, so that no field repeats the text. */
  readonly blocked: (json: JsonText, message: string) => string;
  readonly openBlockedEnd: () => BlockedEnd;
}

/** The end of a stream whose text is blocked, with the guardrail's message in the format of the interface. */
export interface BlockedEnd {
  /** Called with each event that the client gets. */
  see(json: JsonText): void;
  /** Called with the first event of a stream when that event is not sent. */
  identify?(json: JsonText): void;
  /** Returns the events with the message; called once, in place of the blocked text. */
  message(text: string): EventText[];
  /** Returns the last events. `usage` is the provider's report. */
  end(usage: unknown): EventText[];
}

export interface OtherDelivery {
  /** Returns the events of a whole answer. */
  readonly toEvents: (answer: JsonAnswer) => Iterable<EventText>;
  readonly openFold: () => StreamFold;
}

/** Conversion for an interface whose answers are bytes, or events that carry bytes. */
export interface BytesDelivery {
  readonly toEvents: (body: AsyncIterable<Uint8Array>) => AsyncIterable<EventText>;
  /**
   * Returns the bytes of an event that its reader has accepted, with this type. Undefined if it has none to pass on.
   */
  readonly bytesOf: (event: AnswerEvent, contentType: string) => AnswerEvent | undefined;
}

/** Assembles the events of one stream. */
export interface StreamFold {
  /** Adds an event that its reader has accepted. */
  readonly add: (text: string) => void;
  /** Returns the answer, as text if its parts were written before. */
  readonly whole: () => object | string;
}
