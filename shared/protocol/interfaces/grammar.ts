// Texts and streams in the bodies of an interface: texts that a model reads and writes, the end of a blocked answer, its
// other delivery, its turns. Loaded on demand; none of it knows a guardrail or a provider.
import type { TurnsOfBodies } from '../conversation/index.ts';
import type { AnswerEvent, EventText, JsonAnswer, JsonText } from '../wire/index.ts';

export interface InterfaceGrammar {
  /** Every text of a request that a model reads, in the order of the body; undefined where others may have a turn. */
  readonly textsOfRequest: (json: JsonText) => Iterable<FoundText | undefined>;
  /** Whether input is written in the tokens of a model, which no guardrail can read. */
  readonly hasTokens: (json: JsonText) => boolean;
  /**
   * The field that makes the model think, where the turn needs thinking that is no longer in the conversation, so that
   * its provider would refuse it.
   */
  readonly thinkingToStop: (json: JsonText) => string | undefined;
  /** Undefined where its answers hold no text: vectors, sound, an order, flags. */
  readonly answers: AnswerTexts | undefined;
  /**
   * A whole answer as a stream, and a stream as a whole answer; or bytes as events, and the reverse. Undefined where its
   * answers come in one delivery alone.
   */
  readonly otherDelivery: OtherDelivery | BytesDelivery | undefined;
  /** Undefined where its calls are no conversation. */
  readonly turns: TurnsOfBodies | undefined;
}

/** A text in a body. */
export interface FoundText {
  /** Its value in the JSON. */
  readonly value: number;
  readonly text: string;
  /** `call`: arguments of a tool call. `name`: of a tool, a parameter, a message. A mask in either blocks. */
  readonly kind: 'text' | 'call' | 'name';
  /** The item that holds it together with a signature, by which its provider refuses a changed text. */
  readonly signedItem?: number | undefined;
}

/** A text of one event: a piece that other events continue, or a whole one; or the signature of texts. */
export interface EventPiece extends Omit<FoundText, 'kind'> {
  readonly kind: FoundText['kind'] | 'signature';
  /** Names the text that it is a piece of; of a signature, how the names of its texts begin. Undefined for a whole text. */
  readonly channel: string | undefined;
}

/** Texts that a model wrote, and the end of an answer that is blocked. */
export interface AnswerTexts {
  /** As those of a request. */
  readonly ofAnswer: (json: JsonText) => Iterable<FoundText | undefined>;
  readonly ofEvent: (json: JsonText) => EventPiece[];
  /** Whether each event is whole: then it waits for no other. */
  readonly eventsStandAlone: boolean;
  /** Fields whose lists spell a text again, as tokens or words: emptied where that text is masked. */
  readonly spellingFields: ReadonlySet<string>;
  /** Built anew from known fields, so that nothing of the text is left elsewhere. */
  readonly blocked: (json: JsonText, message: string) => string;
  readonly openBlockedEnd: () => BlockedEnd;
}

/** The end of a stream whose text is blocked: the guardrail's message, in the grammar of the interface. */
export interface BlockedEnd {
  /** Called with each event that the client gets. */
  see(json: JsonText): void;
  /** Called with the first event of a stream where that one does not leave. */
  identify?(json: JsonText): void;
  /** Called once, in place of the text that is blocked. */
  message(text: string): EventText[];
  /** The last events. `usage`: as the provider has reported it. */
  end(usage: unknown): EventText[];
}

export interface OtherDelivery {
  /** The events of a whole answer that was read. */
  readonly toEvents: (answer: JsonAnswer) => Iterable<EventText>;
  readonly openFold: () => StreamFold;
}

/** Of an interface whose answers are bytes, or events that carry them. */
export interface BytesDelivery {
  readonly toEvents: (body: AsyncIterable<Uint8Array>) => AsyncIterable<EventText>;
  /** The bytes of an event that its reader has accepted, under this type. Undefined where it has none to pass on. */
  readonly bytesOf: (event: AnswerEvent, contentType: string) => AnswerEvent | undefined;
}

/** Puts the events of one stream together. */
export interface StreamFold {
  /** Adds an event that its reader has accepted. */
  readonly add: (text: string) => void;
  /** As a text where its parts were written before. */
  readonly whole: () => object | string;
}
