// The interface between a provider's format and the hub.
import type {
  EmbeddingModelV4,
  EmbeddingModelV4CallOptions,
  EmbeddingModelV4Result,
  ImageModelV4,
  ImageModelV4CallOptions,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  RerankingModelV4,
  RerankingModelV4CallOptions,
  RerankingModelV4Result,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { ModelReasoning, ProviderDocument, Thinking } from '../../../../configuration/catalogue/index.ts';
import type { HubCall, OptionalName, RefusalOf, Signatures, Strictness } from '../../../../protocol/hub/index.ts';
import type { JsonObject, JsonText, UsageReport } from '../../../../protocol/wire/index.ts';
import type { CandidateAnswer } from '../../../providers/index.ts';
import type { TargetRules } from '../../target-rules/index.ts';

export interface ModelOptions {
  /** The provider's name. */
  readonly model: string;
  /** The name by which the package knows the model: it decides by names. The provider's is sent. */
  readonly knownAs: string;
  /** Its names at provider, model list and catalogue: a host's profile does not show its model. */
  readonly names: readonly string[];
  /** Base URL and key for the package. Neither is sent: `fetch` uses the path alone. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  /** Makes ids of tool calls without one. */
  readonly generateId: () => string;
  /** Awaited between two steps: building the call, and writing it. */
  readonly nextStep: () => Promise<void>;
}

/** A call of one model. */
export interface TargetCall {
  /** The call, with signatures that this target can read only, in the words of its package. */
  readonly call: HubCall;
  /** The provider's name. */
  readonly model: string;
  readonly knownAs: ModelOptions['knownAs'];
  readonly names: ModelOptions['names'];
  /** Names by which the model may be one of OpenAI's. */
  readonly openAiNames: readonly string[];
  readonly rules: TargetRules;
  readonly provider: Pick<ProviderDocument, 'id' | 'kind' | 'reasoning_style' | 'stream_usage'>;
  /** Output tokens, thinking included. */
  readonly boundTokens: number;
  readonly thinking: Thinking | undefined;
  readonly reasoning: ModelReasoning;
  /** The model can be made to call a tool. */
  readonly canForceTools: boolean;
  /** The operator wants the cache used, and the client marks nothing: where it marks something, nothing is added. */
  readonly marksCache: boolean;
}

/** Where a format keeps the arguments of calls. */
export interface ArgumentsShape {
  /** Text that every answer, or event, with such arguments contains. */
  readonly mark: string;
  /** Names of fields from the outside in, `*` for each item of a list. */
  readonly paths: readonly (readonly string[])[];
}

export interface EmbeddingOptions {
  readonly dimensions: number | undefined;
  readonly inputType: string | undefined;
  /** The task in Google's words. */
  readonly taskType: string | undefined;
  readonly title: string | undefined;
}

type EmbeddingField = 'input_type' | 'taskType' | 'title';

/** The embedding models of a package. */
export interface EmbeddingTarget {
  /** `names`: of the model, at provider and catalogue. */
  readonly openModel: (
    settings: Pick<ModelOptions, 'model' | 'baseURL' | 'apiKey' | 'fetch'>,
    names: readonly string[],
  ) => EmbeddingModelV4;
  /** Fields that the model's form has words for, beside the dimensions. */
  readonly knownFields: (names: readonly string[]) => readonly EmbeddingField[];
  readonly toOptions: (
    embeddingOptions: EmbeddingOptions,
    names: readonly string[],
  ) => Pick<EmbeddingModelV4CallOptions, 'dimensions' | 'providerOptions'>;
  /** Completes an answer for its package. */
  readonly readable?: (text: string) => string;
  /** Input tokens that the answer reports where its package does not look. */
  readonly tokensIn?: (result: EmbeddingModelV4Result, answer: CandidateAnswer | undefined) => unknown;
  /** Vectors that were cut to `dimensions` are not of length 1. */
  readonly leavesLength?: true;
}

export type RerankedDocuments = RerankingModelV4CallOptions['documents'];
export type RankedDocument = RerankingModelV4Result['ranking'][number];

/** The reranking models of a package. */
export interface RerankTarget {
  readonly openModel: (
    settings: Pick<ModelOptions, 'model' | 'baseURL' | 'apiKey' | 'fetch'>,
    provider: Pick<ProviderDocument, 'region'>,
  ) => RerankingModelV4;
  /** Host of the service, by that of the provider. */
  readonly hostname: (ofProvider: string) => string;
  /** Options that ask for the rest of an order. */
  readonly pageOptions: (next: string | undefined) => Pick<RerankingModelV4CallOptions, 'providerOptions'>;
  /** Name of the rest, in an answer that has not all of it. */
  readonly nextPage: (answer: unknown) => string | undefined;
}

/** In the words of the client; undefined: the provider's to choose. */
interface ImageOptions {
  readonly size: string | undefined;
  readonly quality: string | undefined;
}

/** The image models of a package. */
export interface ImageTarget {
  /** The most of one call. */
  readonly imagesMax: number;
  readonly openModel: (
    settings: Pick<ModelOptions, 'model' | 'baseURL' | 'apiKey' | 'fetch'>,
    names: readonly string[],
  ) => ImageModelV4;
  readonly toOptions: (
    imageOptions: ImageOptions,
  ) => Pick<ImageModelV4CallOptions, 'size' | 'aspectRatio' | 'providerOptions'>;
}

export interface HubTarget extends Signatures {
  /** Absent where its package has none. */
  readonly imaging?: ImageTarget;
  /** Absent where its package has none. */
  readonly reranking?: RerankTarget;
  /** Absent where its package has none, or a provider of the format speaks OpenAI's form. */
  readonly embeddings?: EmbeddingTarget;
  readonly openModel: (options: ModelOptions) => LanguageModelV4;
  /** Reasoning style of models that the table does not know; undefined when they get no effort. */
  readonly unknownReasoning?: (provider: TargetCall['provider']) => ModelReasoning | undefined;
  /** Call options for the package. Reasoning is added later by `boundBody`. */
  readonly toOptions: (call: TargetCall) => LanguageModelV4CallOptions;
  /**
   * Final changes of the package's body: replaced fields, undefined to remove one. Unchanged fields need not be parsed:
   * they may be long.
   */
  readonly boundBody: (body: JsonText, call: TargetCall) => JsonObject;
  /** New texts of values inside the package's body, beside those of `boundBody`. */
  readonly rewritten?: (body: JsonText, call: TargetCall) => readonly (readonly [value: number, text: string])[];
  /** The optional fields that it supports, or supports with this model. */
  readonly says: ReadonlySet<OptionalName> | ((call: TargetCall) => ReadonlySet<OptionalName>);
  /** Its schema subset for strict tools; absent where it accepts any, or has no strict tools. */
  readonly strictness?: Strictness;
  /** Paths of the request's fields that it got with other values. */
  readonly leavesOut?: (call: TargetCall) => readonly string[];
  /** The media type of a stream. */
  readonly streamType: string;
  /**
   * A stream in a form that its package can read: events bounded, and none that would make the package end it.
   * `takeOut`: replaces arguments of calls in an event, where they are no texts. `endCame`: called while the reader
   * waits for events after the end.
   */
  readonly readStream: (
    bytes: AsyncIterable<Uint8Array>,
    takeOut: (text: string) => string,
    endCame: () => void,
  ) => AsyncGenerator<Uint8Array, void, undefined>;
  /** Absent where the arguments of calls are texts. */
  readonly argumentsShape?: ArgumentsShape;
  /** Steps that make a whole answer readable for its package, with a usage that it accepts: its text, or its value. */
  readonly readable: readonly ((text: string) => string | object)[];
  /** Usage of a whole answer, by which it is charged where no client gets it. If absent, it is estimated. */
  readonly usageIn?: (text: string) => UsageReport | undefined;
  /** Whether an answer without content means that the provider refused the prompt; absent where a status says so. */
  readonly isBlockedPrompt?: (metadata: SharedV4ProviderMetadata | undefined) => boolean;
  /**
   * Answer for its package where that asks a second time by itself, for which nothing was reserved. Absent where it
   * never does.
   */
  readonly endOfAnswer?: unknown;
  /** An answer without content did not end well, although its end says so, unless the client gave stops. */
  readonly failsEmpty?: true;
  readonly refusalOf?: RefusalOf;
  /** Stops that it does not support: the gateway ends the answer there. Absent where it supports all. */
  readonly unsupportedStops?: (call: TargetCall) => readonly string[];
}
