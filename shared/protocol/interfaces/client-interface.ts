// Describes a client's interface (chat completions, messages, …). Stages, formats and the response cache work with it,
// and none of them branches on the interface's name. Types only.
import type { GatewayError, RejectionReason } from '../../errors/index.ts';
import type { InterfaceId } from '../../foundation/constants/index.ts';
import type { InterfaceOperation } from '../description/index.ts';
import type { FormBody, FormFields, MultipartBody } from '../forms/index.ts';
import type { HubSource } from '../hub/index.ts';
import type { SchemaWork } from '../json-schema/index.ts';
import type { PlaygroundInterface } from '../playground/index.ts';
import type {
  AnswerCost,
  AnswerEvent,
  EventReader,
  EventText,
  JsonAnswer,
  JsonObject,
  JsonText,
  MidStreamCode,
  PresetOption,
  ReadAnswer,
  RoutedRequest,
  UpstreamTarget,
  UsageReport,
  WrittenAnswer,
} from '../wire/index.ts';
import type { CredentialPlace } from './credential-places.ts';
import type { InterfaceGrammar } from './grammar.ts';

/** Everything that the gateway knows of a client interface. A part that few calls need is loaded by a function. */
export interface ClientInterface {
  readonly id: InterfaceId;
  /** OpenTelemetry's operation name of its calls; if the conventions define none, a name of the gateway. */
  readonly telemetryOperation: string;
  /**
   * Returns the path after the base URL of a provider with this interface. `model` is the provider's name for the
   * model.
   */
  readonly upstreamPath: (call: { readonly model: string; readonly stream: boolean }) => string;
  /** The gateway's own fields of a request. No provider gets them as they came, and lists in them are short. */
  readonly gatewayMembers: ReadonlySet<string>;
  /** The field that contains a schema. An error in the schema's nesting has its own code. */
  readonly schemaMember: string | undefined;
  /** Description of its forms; undefined if its bodies are always JSON. */
  readonly formFields: FormFields | undefined;
  /** Reads from the files of a form the figures by which the request is priced. Never rejects. */
  readonly measureForm: ((form: FormBody) => Promise<void>) | undefined;
  /** True if a whole answer may take as long as a stream, because its models are silent for a minute and more. */
  readonly takesLong: boolean;
  /** True if a model may be the alias of a stored function. */
  readonly callsFunctions: boolean;
  readonly credentialPlace: CredentialPlace;
  /** Headers of the request that providers get unchanged, in lower case. */
  readonly passedHeaders: readonly string[];
  /** True if providers get the query string too. */
  readonly passesQuery: boolean;
  /**
   * Describes what the interface does, if many of its servers lack this path. Its calls are no evidence of how well a
   * provider answers, so they count in no statistics, and cool no provider down.
   */
  readonly seldomOffered: string | undefined;
  /**
   * Returns the whole message of a rejected request, for clients that repair the request by these words and send it
   * again. If undefined, the message has the gateway's own words first, then the provider's.
   */
  readonly repairWords: ((rejection: RejectionToTell) => string | undefined) | undefined;
  /** Reads the request. An error is returned, not thrown, because a refused key takes precedence over the error. */
  readonly readRequest: (body: JsonText, reading: RequestReading) => ClientRequest | GatewayError;
  /**
   * Returns the top-level fields of a body that change no answer, in addition to the fields in other parts of the cache
   * key.
   */
  readonly leftOutOfCacheKey: (body: JsonText) => ReadonlySet<string>;
  /** Returns the bound of a JSON answer to this request; a longer answer is not read to its end. */
  readonly answerMaxBytes: (request: RoutedRequest) => number;
  readonly readAnswer: (text: string) => Promise<ReadAnswer>;
  /** Framing of its streams by providers. If absent, the framing is that of server-sent events. */
  readonly framing?: StreamFraming;
  /** Opens a reader for one stream, from its start. `choices` is the requested number of choices. */
  readonly openEventReader: (choices: number) => EventReader;
  /** Loads the texts, ends and other delivery of its bodies. */
  readonly grammar: () => Promise<InterfaceGrammar>;
  /** Loads the translation of its calls for providers of other formats. Undefined if they are never translated. */
  readonly translation: (() => Promise<HubSource>) | undefined;
  /** The AI SDK's kind of model that serves it at kinds of providers with a format of their own. */
  readonly packageModels: 'embedding' | 'image' | 'reranking' | undefined;
  /**
   * Loads its operation for the description of the whole interface. `of` is the operation in the path, if the path
   * names the model.
   */
  readonly operation: (pathOperation?: string) => Promise<InterfaceOperation>;
  /**
   * Loads the writer of its calls for the playground of the console. Undefined if the playground does not offer it.
   */
  readonly playground: (() => Promise<PlaygroundInterface>) | undefined;
  /** Providers for which the gateway adds cache marks to a relayed call. */
  readonly cacheMarks: CacheMarks | undefined;
}

/** The framing of events in the bytes of a stream. */
export interface StreamFraming {
  readonly contentType: string;
  /** Yields the events. Throws RangeError when one event is over `eventMaxBytes`. */
  readonly read: (
    body: AsyncIterable<Uint8Array>,
    eventMaxBytes: number,
  ) => AsyncGenerator<EventText[], void, undefined>;
  readonly write: (event: EventText) => Uint8Array;
}

/** The format of a stream for a client, if it is not a stream of server-sent events. */
export interface StreamForm {
  readonly contentType: string;
  /** Text of a keep-alive, in place of a comment. */
  readonly keepAlive: string;
}

export interface CacheMarks {
  /** Kinds of providers; undefined for every provider of the interface. */
  readonly kinds: readonly string[] | undefined;
  readonly onTools: boolean;
}

/** A request that every provider rejected. */
export interface RejectionToTell {
  /** Text of the first provider that gave any. */
  readonly providerText: string | undefined;
  readonly reason: RejectionReason | undefined;
  /** Estimated tokens of the prompt. */
  readonly promptTokens: number;
  /** Context length of the model, in tokens. */
  readonly contextTokens: number;
}

/** Parts of a request besides its body that providers get unchanged. */
export interface PassedOn {
  readonly headers: Readonly<Record<string, string>>;
  /** Query string without the question mark; empty if there is none. */
  readonly query: string;
}

export interface RequestReading {
  readonly bodyBytes: number;
  /** The form, if the body is a form. The form's fields are the JSON that is read. */
  readonly form?: FormBody | undefined;
  /** True for a function call, whose fields without an effect are dropped. */
  readonly dropsUnusedFields: boolean;
  /** The header with the requested betas, if the interface passes it on. */
  readonly betas?: string | undefined;
  /** Set if the path names the model. */
  readonly path?: CallPath | undefined;
}

/**
 * Parts of a call that are in its path. The fingerprint includes them unchanged, and the cache key all but the model.
 */
export interface CallPath {
  /** Model as it was sent, decoded. */
  readonly model: string;
  readonly operation: string;
  /** Query string without the question mark. */
  readonly query: string;
}

/** A request of any interface, as its client sent it. */
export interface ClientRequest extends RoutedRequest {
  /**
   * The parsed fields that the gateway reads. They never change, except that media are dropped after they were
   * measured.
   */
  readonly raw: JsonObject;
  readonly preset: PresetOption | undefined;
  /** Dropped fields that had no effect, so that a retry may omit them. */
  readonly unusedFields?: ReadonlySet<string> | undefined;
  /** Paths of parts that the gateway has dropped, whatever the provider. */
  readonly leftOut?: readonly string[] | undefined;
  /** Set if the path names the model. */
  readonly path?: CallPath | undefined;
  /** The client's form, with its files. */
  readonly form?: FormBody | undefined;
  /** Set if its stream consists of bytes, not events. */
  readonly bytes?: BytesAnswer | undefined;
  /** Set if its stream is not a stream of server-sent events. */
  readonly streamForm?: StreamForm | undefined;
  /** Headers for a provider in place of fields of the body. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Returns the body for a provider with this interface. */
  readonly upstreamBody: (target: UpstreamTarget) => UpstreamBody;
  /** Answers without a provider, if the candidate has another interface. Undefined if that is impossible. */
  readonly answerItself?: (() => JsonAnswer) | undefined;
  /** Checks answers against the schema of the request; undefined when it has none. */
  readonly schemaCheck: SchemaCheck | undefined;
  readonly writeAnswer: (answer: JsonAnswer, cost: AnswerCost) => WrittenAnswer;
  /** Opens a writer for one stream, from its start. */
  readonly openStreamWriter: (options: StreamWriting) => StreamWriter;
  /**
   * Writes a whole stream in place of an error, for clients that react to the error only in a stream. If the function
   * is absent or returns undefined, clients get the error.
   */
  readonly refusedStream?: ((error: GatewayError, answer: RefusedStream) => Promise<string | undefined>) | undefined;
}

/** An answer that is not text, relayed as it arrives. */
export interface BytesAnswer {
  readonly accept: string;
  /**
   * Returns the media type for the client, from the provider's media type; undefined if the answer is of another kind.
   */
  readonly typeOf: (contentType: string) => string | undefined;
}

export interface UpstreamBody {
  readonly text: string;
  /** The form in place of the text, if the client sent a form. */
  readonly form?: MultipartBody | undefined;
  /**
   * Paths of dropped parts of the client's body, which are thinking of other models. Only the first path of each field
   * is listed.
   */
  readonly leftOut: readonly string[];
}

/** Changes of a relayed body. */
export interface RelayedChanges {
  readonly changes: readonly (readonly [string, unknown])[];
  /** Texts in place of values inside the other fields, in the sequence of the values. */
  readonly replaced?: readonly (readonly [value: number, text: string])[];
  readonly leftOut: readonly string[];
}

/** Names of values that are derived from the other fields of a request. */
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

export interface StreamWriting {
  /** True for a base URL whose clients have no other way to request the cost. */
  readonly mergesUsageChunk: boolean;
  readonly endsBrokenStreamWithDone: boolean;
}

/** Writes the client's text of a stream. */
export interface StreamWriter {
  /**
   * Writes one event, which the interface's own reader has read. Returns an empty text for an event that this client
   * does not get.
   */
  event(event: AnswerEvent): string;
  /**
   * Returns the text before the end of a stream that ended without an error. `reported` is the provider's last usage.
   */
  readonly beforeEnd: (reported: UsageReport | undefined, cost: () => AnswerCost) => string;
  /**
   * An event without content, if clients expect a ping in a silent stream. It is used if the provider has another
   * interface and sends no pings.
   */
  readonly ping?: string | undefined;
  /** The end marker, after everything else. */
  readonly end: string;
  /** Returns the end of a stream that broke after its first output. `message` replaces the text of the code. */
  readonly broken: (code: MidStreamCode, message?: string) => string;
}

export interface SchemaCheck {
  readonly answer: (answer: JsonAnswer, options: AnswerChecking) => Promise<CheckedAnswer>;
  /**
   * Opens a check of one stream. The check receives each event, and then decides whether the whole answer satisfies the
   * schema.
   */
  readonly openStream: (work: SchemaWork) => StreamSchemaCheck;
}

export interface AnswerChecking {
  /** True if the client itself checks an answer that was cut off. */
  readonly skipsTruncated: boolean;
  readonly schemaWork: SchemaWork;
}

export type CheckedAnswer =
  /** `answer` is without other text around the JSON. */
  | { readonly kind: 'valid'; readonly answer: JsonAnswer }
  /**
   * `mismatch` describes where and by which rule of the schema the answer fails. `isFinal` means that another answer
   * would fail too, because this answer ended at its token limit, or its check at a limit.
   */
  | { readonly kind: 'invalid'; readonly mismatch: string; readonly isFinal: boolean };

export interface StreamSchemaCheck {
  readonly add: (event: AnswerEvent) => void;
  /**
   * Returns where and by which rule of the schema the answer fails, or undefined when it satisfies it. A choice that
   * calls tools, refuses or was cut off is not checked.
   */
  readonly mismatch: () => Promise<string | undefined>;
}
