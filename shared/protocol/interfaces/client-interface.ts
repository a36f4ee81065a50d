// Description of a client's interface (chat completions, messages, …). Stages, formats and the response cache work with
// it, and none of them branches on the interface's name. Types only.
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

/** All that is known of an interface of clients. What few calls need is a function that loads it. */
export interface ClientInterface {
  readonly id: InterfaceId;
  /** OpenTelemetry's operation name of its calls; where it defines none, a word of ours. */
  readonly telemetryOperation: string;
  /** Behind the base URL of a provider that speaks it. `model`: the provider's name of it. */
  readonly upstreamPath: (call: { readonly model: string; readonly stream: boolean }) => string;
  /** Members of a request that are the gateway's own: no provider gets them as they came, and lists in them are short. */
  readonly gatewayMembers: ReadonlySet<string>;
  /** The field whose depth has an error code of its own. */
  readonly schemaMember: string | undefined;
  /** Undefined where its bodies are JSON alone. */
  readonly formFields: FormFields | undefined;
  /** Reads from the files of a form what its request is priced by. Never rejects. */
  readonly measureForm: ((form: FormBody) => Promise<void>) | undefined;
  /** Whether a whole answer may take as long as a stream: its models are silent for a minute and more. */
  readonly takesLong: boolean;
  /** Whether a model may be the alias of a stored function. */
  readonly callsFunctions: boolean;
  readonly credentialPlace: CredentialPlace;
  /** Headers of the request that providers get as they came, lower case. */
  readonly passedHeaders: readonly string[];
  /** Set where providers get the query string too. */
  readonly passesQuery: boolean;
  /**
   * Set where many servers of the interface have no such path: what it does. Its calls do not show how well a provider
   * answers: they count in no statistics, and cool no provider.
   */
  readonly seldomOffered: string | undefined;
  /**
   * The whole message of a rejected request, for clients that repair the request by these words and send it again. Where
   * undefined, the gateway's own words come first, then those of the provider.
   */
  readonly repairWords: ((rejection: RejectionToTell) => string | undefined) | undefined;
  /** An error is returned, not thrown: a key that is refused wins over it. */
  readonly readRequest: (body: JsonText, reading: RequestReading) => ClientRequest | GatewayError;
  /** Top-level fields of a body that change no answer, beside the ones that the parts of the cache key name. */
  readonly leftOutOfCacheKey: (body: JsonText) => ReadonlySet<string>;
  /** Bound of a JSON answer to this request; a longer one is not read to its end. */
  readonly answerMaxBytes: (request: RoutedRequest) => number;
  readonly readAnswer: (text: string) => Promise<ReadAnswer>;
  /** How providers write its streams. Absent: as server-sent events. */
  readonly framing?: StreamFraming;
  /** Opens a reader for one stream, from its start. `choices`: of the request. */
  readonly openEventReader: (choices: number) => EventReader;
  /** Texts, ends and other delivery of its bodies. */
  readonly grammar: () => Promise<InterfaceGrammar>;
  /** Translates its calls for providers of other formats. Undefined where they are never translated. */
  readonly translation: (() => Promise<HubSource>) | undefined;
  /** The models of the AI SDK that serve it at kinds of providers with a form of their own. */
  readonly packageModels: 'embedding' | 'image' | 'reranking' | undefined;
  /** Its operation in the description of the whole interface. `of`: what is asked, where the path names the model. */
  readonly operation: (of?: string) => Promise<InterfaceOperation>;
  /** How the playground of the console writes its calls. Undefined where the playground has none. */
  readonly playground: (() => Promise<PlaygroundInterface>) | undefined;
  /** Who gets cache marks that the gateway adds to a relayed call. */
  readonly cacheMarks: CacheMarks | undefined;
}

/** Events in the bytes of a stream. */
export interface StreamFraming {
  readonly contentType: string;
  /** Throws RangeError when one event is over `eventMaxBytes`. */
  readonly read: (
    body: AsyncIterable<Uint8Array>,
    eventMaxBytes: number,
  ) => AsyncGenerator<EventText[], void, undefined>;
  readonly write: (event: EventText) => Uint8Array;
}

/** A stream for a client, where it is not of server-sent events. */
export interface StreamForm {
  readonly contentType: string;
  /** A sign of life in place of a comment. */
  readonly keepAlive: string;
}

export interface CacheMarks {
  /** Every provider of the interface where undefined. */
  readonly kinds: readonly string[] | undefined;
  readonly onTools: boolean;
}

/** A request that every provider rejected. */
export interface RejectionToTell {
  /** Words of the first provider that gave any. */
  readonly providerText: string | undefined;
  readonly reason: RejectionReason | undefined;
  /** An estimate. */
  readonly promptTokens: number;
  /** Context length of the model. */
  readonly contextTokens: number;
}

/** Parts of a request beside its body that providers get unchanged. */
export interface PassedOn {
  readonly headers: Readonly<Record<string, string>>;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
}

export interface RequestReading {
  readonly bodyBytes: number;
  /** Where the body is a form: its fields are the JSON that is read. */
  readonly form?: FormBody | undefined;
  /** Members of a function call that ask for nothing are dropped. */
  readonly dropsIdleMembers: boolean;
  /** The header with the betas that are asked for, where the interface passes it on. */
  readonly betas?: string | undefined;
  /** Set where the path names the model. */
  readonly path?: CallPath | undefined;
}

/** Parts of a call that stand in its path. Of the fingerprint, as they are; of the cache key, but for the model. */
export interface CallPath {
  /** As it was sent, decoded. */
  readonly model: string;
  readonly operation: string;
  /** Without the question mark. */
  readonly query: string;
}

/** A request of any interface, as its client sent it. */
export interface ClientRequest extends RoutedRequest {
  /** The parsed fields that the gateway reads. Never changed, except that media are dropped after they are measured. */
  readonly raw: JsonObject;
  readonly preset: PresetOption | undefined;
  /** Dropped fields that asked for nothing: a retry may come without them. */
  readonly idleMembers?: ReadonlySet<string> | undefined;
  /** Paths of parts that the gateway has dropped, whatever the provider. */
  readonly leftOut?: readonly string[] | undefined;
  /** Set where the path names the model. */
  readonly path?: CallPath | undefined;
  /** The form of the client, with its files. */
  readonly form?: FormBody | undefined;
  /** Set where its stream is bytes, not events. */
  readonly bytes?: BytesAnswer | undefined;
  /** Set where its stream is not of server-sent events. */
  readonly streamForm?: StreamForm | undefined;
  /** Headers that a provider gets in place of fields of the body. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body for a provider that speaks the interface. */
  readonly upstreamBody: (target: UpstreamTarget) => UpstreamBody;
  /** Answers without a provider, where the candidate has another interface, if that is possible. */
  readonly answerItself?: (() => JsonAnswer) | undefined;
  /** Undefined when no schema is given that answers must satisfy. */
  readonly schemaCheck: SchemaCheck | undefined;
  readonly writeAnswer: (answer: JsonAnswer, cost: AnswerCost) => WrittenAnswer;
  /** Opens a writer for one stream, from its start. */
  readonly openStreamWriter: (options: StreamWriting) => StreamWriter;
  /** A whole stream in place of an error, where its clients act on the error there alone. Left out, undefined: the error. */
  readonly refusedStream?: ((error: GatewayError, answer: RefusedStream) => Promise<string | undefined>) | undefined;
}

/** An answer that is no text, relayed as it comes. */
export interface BytesAnswer {
  readonly accept: string;
  /** Its type for the client, by that of the provider; undefined for another answer. */
  readonly typeOf: (contentType: string) => string | undefined;
}

export interface UpstreamBody {
  readonly text: string;
  /** In its place, where the client sent a form. */
  readonly form?: MultipartBody | undefined;
  /** Paths of parts of the client's body that were dropped: thinking of other models, the first of each field. */
  readonly leftOut: readonly string[];
}

/** Fields of a relayed body to write anew. */
export interface RelayedChanges {
  readonly changes: readonly (readonly [string, unknown])[];
  /** Texts in the places of values inside the other fields, in their order. */
  readonly replaced?: readonly (readonly [value: number, text: string])[];
  readonly leftOut: readonly string[];
}

/** Names of values derived from the other fields of a request. */
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
  /** The client's base URL is one whose clients know no other way to ask for the cost. */
  readonly mergesUsageChunk: boolean;
  readonly endsBrokenStreamWithDone: boolean;
}

/** Writes the client's text of a stream. */
export interface StreamWriter {
  /**
   * Called with events of the interface's own reader. Returns an empty text for an event that this client does not get.
   */
  event(event: AnswerEvent): string;
  /** Text before the end of a stream that ended well. `reported`: the last usage of the provider. */
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
  /** Checks one stream: each event, then whether all of it satisfies the schema. */
  readonly openStream: (work: SchemaWork) => StreamSchemaCheck;
}

export interface AnswerChecking {
  /** An answer that was cut is the client's to read. */
  readonly skipsTruncated: boolean;
  readonly schemaWork: SchemaWork;
}

export type CheckedAnswer =
  /** `answer`: without the text around the JSON. */
  | { readonly kind: 'valid'; readonly answer: JsonAnswer }
  /**
   * `mismatch`: where and by which rule of the schema it fails. `isFinal`: a repetition would fail too, as the answer
   * ended at its token limit, or its check at a bound.
   */
  | { readonly kind: 'invalid'; readonly mismatch: string; readonly isFinal: boolean };

export interface StreamSchemaCheck {
  readonly add: (event: AnswerEvent) => void;
  /**
   * Returns where and by which rule of the schema it fails, or undefined when it satisfies it. A choice that calls
   * tools, refuses or was cut off is not checked.
   */
  readonly mismatch: () => Promise<string | undefined>;
}
