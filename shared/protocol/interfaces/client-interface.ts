// What a client's interface (chat completions, messages, …) says of itself. Stages, formats and the response cache work with
// this, and none of them asks which interface it has. Types only.
import type { ErrorFormat, GatewayError, RejectionReason } from '../../errors/index.ts';
import type { InterfaceId } from '../../foundation/constants/index.ts';
import type { SchemaWork } from '../json-schema/index.ts';
import type {
  EventText,
  JsonObject,
  JsonText,
  MidStreamCode,
  PresetOption,
  RoutedRequest,
  UpstreamTarget,
  UsageReport,
} from '../wire/index.ts';

export interface ClientInterface {
  readonly id: InterfaceId;
  /** Behind the base URL of a provider that speaks it. */
  readonly upstreamPath: string;
  /** Members of a request that are the gateway's own: no provider gets them as they came, and lists in them are short. */
  readonly gatewayMembers: ReadonlySet<string>;
  /** The member whose depth has an error code of its own. */
  readonly schemaMember: string | undefined;
  /** Whether a model may be the alias of a stored function. */
  readonly callsFunctions: boolean;
  /** `x-api-key` may carry the key. */
  readonly acceptsApiKeyHeader: boolean;
  /** Headers of the request that providers get as they came, lower case. */
  readonly passedHeaders: readonly string[];
  /** They get its query too. */
  readonly passesQuery: boolean;
  /** Its calls say how well a provider answers: they count in statistics, and cool a provider that fails. */
  readonly measuresProviders: boolean;
  /**
   * Its clients repair a rejected request by the words that they are told, and send it again: the whole message. Left out: the
   * gateway's own words come first, then those of the provider.
   */
  readonly repairWords?: (rejection: RejectionToTell) => string | undefined;
  readonly routeRules: RouteRules;
  /** An error is returned, not thrown: a key that is refused wins over it. */
  readonly readRequest: (body: JsonText, reading: RequestReading) => ClientRequest | GatewayError;
  /** Of a body: top-level members that change no answer, beside the ones that the parts of the cache key name. */
  readonly leftOutOfCacheKey: (body: JsonText) => ReadonlySet<string>;
  /** Of a JSON answer to this request. One that is longer is not read to its end. */
  readonly answerMaxBytes: (asked: RoutedRequest) => number;
  readonly readAnswer: (text: string) => Promise<ReadAnswer>;
  /** For one stream, from its start. `choices`: of the request. */
  readonly openEventReader: (choices: number) => EventReader;
}

/** A request that every provider rejected. */
export interface RejectionToTell {
  /** What the first provider said that said anything. */
  readonly said: string | undefined;
  readonly reason: RejectionReason | undefined;
  /** An estimate. */
  readonly promptTokens: number;
  /** Of the model. */
  readonly contextTokens: number;
}

/** What the clients of a path are used to, whatever the base URL. */
export interface RouteRules {
  readonly errorFormat?: ErrorFormat | undefined;
  /** A header with which errors have the form of Messages. */
  readonly messagesFormWith?: string | undefined;
  /** A header that names the session where none of the gateway does. */
  readonly foreignSessionId?: string | undefined;
  /** A second name for the header with the id of the request. */
  readonly requestIdHeader?: string | undefined;
}

/** Of a request, beside its body: what providers get as it came. */
export interface PassedOn {
  readonly headers: Readonly<Record<string, string>>;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
}

export interface RequestReading {
  readonly bodyBytes: number;
  /** Members of a function call that ask for nothing are dropped. */
  readonly dropsIdleMembers: boolean;
  /** The header with the betas that are asked for, where the interface passes it on. */
  readonly betas?: string | undefined;
}

/** A request of any interface, as its client sent it. */
export interface ClientRequest extends RoutedRequest {
  /** The members that the gateway reads, and of these what it reads. Never changed, but for media that are let go when they are measured. */
  readonly raw: JsonObject;
  readonly preset: PresetOption | undefined;
  /** The body for a provider that speaks the interface. */
  readonly upstreamBody: (target: UpstreamTarget) => UpstreamBody;
  /** Where the provider speaks another interface: an answer that needs no provider. Left out: there is none. */
  readonly answerItself?: ((nextStep: () => Promise<void>) => Promise<JsonAnswer>) | undefined;
  /** Undefined: no schema is named that answers must satisfy. */
  readonly schemaCheck: SchemaCheck | undefined;
  readonly writeAnswer: (answer: JsonAnswer, cost: AnswerCost) => WrittenAnswer;
  /** For one stream, from its start. */
  readonly openStreamWriter: (options: StreamWriting) => StreamWriter;
  /** A whole stream in place of an error, where its clients act on the error there alone. Left out, undefined: the error. */
  readonly refusedStream?: ((error: GatewayError, answer: RefusedStream) => Promise<string | undefined>) | undefined;
}

export interface UpstreamBody {
  readonly text: string;
  /** What of the client's body is not in it, as paths: thinking of other models, of each field the first. */
  readonly leftOut: readonly string[];
}

/** Fields of a relayed body to write anew. */
export interface RelayedChanges {
  readonly changes: readonly (readonly [string, unknown])[];
  /** Texts in the places of values inside the other fields, in their order. */
  readonly replaced?: readonly (readonly [value: number, text: string])[];
  readonly leftOut: readonly string[];
}

/** Names of what is made of the other members of a request. */
export type MadeOfMembers =
  | 'needs'
  | 'size'
  | 'wholeBody'
  | 'readWholeBody'
  | 'letGoValues'
  | 'hubNeeds'
  | 'upstreamBody'
  | 'schemaCheck'
  | 'writeAnswer'
  | 'openStreamWriter';

export interface RefusedStream {
  readonly id: string;
  readonly createdSeconds: number;
}

/** What an answer, or one event of it, says of itself, as it came. */
export interface AnswerDetails {
  /** As the provider names it. Left out: it names none. */
  readonly model?: string | undefined;
  /** Of each choice that has ended, in words of the interface. */
  readonly finishReasons?: readonly string[] | undefined;
  /** Ids under which its provider stores it and its items. Left out: it says of none. */
  readonly storedIds?: readonly string[] | undefined;
  /** Of what else its provider keeps, stored or not: containers, files that were made in them, sound. */
  readonly keptIds?: readonly string[] | undefined;
}

export interface JsonAnswer extends AnswerDetails {
  /** What is written and kept. */
  readonly text: string;
  /** As far as the interface looks at it. */
  readonly json: JsonText;
  readonly usage: UsageReport | undefined;
  /** Bytes of text that the model wrote, for the estimate where a provider reports no usage. */
  readonly outputBytes: number;
}

export type ReadAnswer =
  | { readonly kind: 'answer'; readonly answer: JsonAnswer }
  /** An error object inside a 200: SDKs would take it for an answer. */
  | { readonly kind: 'error'; readonly error: unknown }
  /** Finished, and beyond what an answer may hold. */
  | { readonly kind: 'refused'; readonly refused: RefusedAnswer }
  | { readonly kind: 'unreadable' };

/** What is known of an answer that is not handed on: the ground of its charge. */
export interface RefusedAnswer {
  readonly usage: UsageReport | undefined;
  readonly outputBytes: number;
  /** Beside them: of a stream that its client left before its first output. */
  readonly unseenTokens?: number;
}

/** What the gateway tells of an answer's price. */
export interface AnswerCost {
  /** What the workspace pays: an exact decimal string. */
  readonly costUsd: string;
  /** The same as a JSON number. */
  readonly cost: number;
  /** The provider's `usage` with every member that the gateway can add. */
  readonly mergedUsage: () => Record<string, unknown>;
}

export interface WrittenAnswer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An event of a provider, read. Its text is relayed byte for byte. */
export interface AnswerEvent extends EventText {
  readonly json: JsonText;
  readonly details: EventDetails;
}

export interface EventDetails extends AnswerDetails {
  /** It holds something that a client can use, or the model has begun to think: until then another provider may answer. */
  readonly hasOutput: boolean;
  /** What it brings is the model's thinking and nothing else: what follows may be long in coming. */
  readonly isOnlyThinking?: boolean | undefined;
  /** It ends the stream well: a client has it when the answer is stored. */
  readonly isLast: boolean;
  /** It is no event of the interface, but a marker that some servers write behind the last one. */
  readonly isEndMarker?: true;
  readonly usage: UsageReport | undefined;
  /** As in `JsonAnswer`. */
  readonly outputBytes: number;
}

export type EventReading =
  | { readonly kind: 'event'; readonly event: AnswerEvent }
  /** The end marker: nothing of it is relayed. */
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: unknown }
  /** No JSON object, or beyond what an answer may hold: the stream is broken. */
  | { readonly kind: 'unreadable' };

export interface EventReader {
  readonly read: (event: EventText) => EventReading;
  /** Everything was said, however the connection ends. */
  readonly isComplete: () => boolean;
  /** Its last event may have an end marker behind it. */
  readonly mayBeMarked?: true;
}

export interface StreamWriting {
  /** The client's base URL is one whose clients know no other way to ask for the cost. */
  readonly mergesUsageChunk: boolean;
  readonly endsBrokenStreamWithDone: boolean;
}

/** What a client gets of a stream, as text. */
export interface StreamWriter {
  /** Called with events of the interface's own reader, in whose form it takes them. Empty: nothing of it is for this client. */
  event(event: AnswerEvent): string;
  /** What precedes the end of a stream that ended well. `reported`: the last usage of the provider. */
  readonly beforeEnd: (reported: UsageReport | undefined, cost: () => AnswerCost) => string;
  /** An event that says nothing, where clients wait for one: in a stream whose provider speaks another interface and sends none. */
  readonly ping?: string | undefined;
  /** The end marker, behind everything. */
  readonly end: string;
  /** How a stream ends that broke after its first output. `message`: in place of the words of the code. */
  readonly broken: (code: MidStreamCode, message?: string) => string;
}

export interface SchemaCheck {
  readonly answer: (answer: JsonAnswer, options: AnswerChecking) => Promise<CheckedAnswer>;
  /** For one stream: each event, then whether all of it satisfies the schema. */
  readonly openStream: (work: SchemaWork) => StreamSchemaCheck;
}

export interface AnswerChecking {
  /** An answer that was cut is the client's to read. */
  readonly acceptsUnfinished: boolean;
  readonly schemaWork: SchemaWork;
}

export type CheckedAnswer =
  /** `answer`: without what stood around the JSON. */
  | { readonly kind: 'valid'; readonly answer: JsonAnswer }
  /**
   * `mismatch`: where and by which rule of the schema it fails. `isFinal`: so would the next one, as it ended at its token limit,
   * or its check at a bound.
   */
  | { readonly kind: 'invalid'; readonly mismatch: string; readonly isFinal: boolean };

export interface StreamSchemaCheck {
  readonly add: (event: AnswerEvent) => void;
  /** Lets go what was added: there is no memory for it. */
  readonly drop: () => void;
  /**
   * Where and by which rule of the schema it fails; undefined: it satisfies it. A choice that calls tools, refuses or was cut
   * is not held against the schema: it is the client's to read.
   */
  readonly mismatch: () => Promise<string | undefined>;
}
