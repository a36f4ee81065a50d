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
  /** The provider's name of the model. */
  readonly model: string;
  /** The name by which the package knows the model, because it decides by names. The provider's name is sent. */
  readonly knownAs: string;
  /** The model's names at provider, model list and catalogue: the name of a host's profile does not show its model. */
  readonly names: readonly string[];
  /** Base URL and key for the package. Neither is sent: `fetch` uses only the path. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  /** Makes ids for tool calls that have none. */
  readonly generateId: () => string;
}

/** The call of one model, with everything that a target needs. */
export interface TargetCall {
  /** The call with the signatures that this target can read, in its package's options. */
  readonly call: HubCall;
  /** The provider's name of the model. */
  readonly model: string;
  readonly knownAs: ModelOptions['knownAs'];
  readonly names: ModelOptions['names'];
  /** Names by which the model may be one of OpenAI's. */
  readonly openAiNames: readonly string[];
  readonly rules: TargetRules;
  readonly provider: Pick<ProviderDocument, 'id' | 'kind' | 'reasoning_style' | 'stream_usage'>;
  /** Bound of output tokens, thinking included. */
  readonly boundTokens: number;
  readonly thinking: Thinking | undefined;
  readonly reasoning: ModelReasoning;
  /** True if the model can be forced to call a tool. */
  readonly canForceTools: boolean;
  /**
   * True if the operator wants the cache used, and the client marks nothing: if it marks something, nothing is
   * added.
   */
  readonly marksCache: boolean;
}

/** The positions of the arguments of calls in a format. */
export interface ArgumentsShape {
  /** Text that occurs in every answer, or event, with such arguments. */
  readonly mark: string;
  /** Names of fields from the outside in, `*` for each item of a list. */
  readonly paths: readonly (readonly string[])[];
}

export interface EmbeddingOptions {
  readonly dimensions: number | undefined;
  readonly inputType: string | undefined;
  /** The task, as a value of Google's. */
  readonly taskType: string | undefined;
  readonly title: string | undefined;
}

type EmbeddingField = 'input_type' | 'taskType' | 'title';

/** The embedding models of a package. */
export interface EmbeddingTarget {
  /** Opens a model. `names` are the model's, at the provider and in the catalogue. */
  readonly openModel: (
    settings: Pick<ModelOptions, 'model' | 'baseURL' | 'apiKey' | 'fetch'>,
    names: readonly string[],
  ) => EmbeddingModelV4;
  /** Returns fields that the model's format can express, besides the dimensions. */
  readonly knownFields: (names: readonly string[]) => readonly EmbeddingField[];
  readonly toOptions: (
    embeddingOptions: EmbeddingOptions,
    names: readonly string[],
  ) => Pick<EmbeddingModelV4CallOptions, 'dimensions' | 'providerOptions'>;
  /** Completes an answer for its package. */
  readonly readable?: (text: string) => string;
  /** Returns the input tokens that the answer reports if its package does not read them. */
  readonly tokensIn?: (result: EmbeddingModelV4Result, answer: CandidateAnswer | undefined) => unknown;
  /** Set if vectors that were cut to `dimensions` are not normalized to length 1. */
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
  /** Returns the host of the service, by the provider's. */
  readonly hostname: (ofProvider: string) => string;
  /** Returns options that ask for the rest of an order. */
  readonly pageOptions: (next: string | undefined) => Pick<RerankingModelV4CallOptions, 'providerOptions'>;
  /** Returns the token of the rest, for an answer that has not all of it. */
  readonly nextPage: (answer: unknown) => string | undefined;
}

/** Options with the client's values; undefined if the provider chooses. */
interface ImageOptions {
  readonly size: string | undefined;
  readonly quality: string | undefined;
}

/** The image models of a package. */
export interface ImageTarget {
  /** Maximum number of images of one call. */
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
  /** Image models; absent if its package has none. */
  readonly imaging?: ImageTarget;
  /** Reranking models; absent if its package has none. */
  readonly reranking?: RerankTarget;
  /** Embedding models; absent if its package has none, or a provider of the format has OpenAI's interface. */
  readonly embeddings?: EmbeddingTarget;
  readonly openModel: (options: ModelOptions) => LanguageModelV4;
  /** Returns the reasoning style of models that the table does not know; undefined when they get no effort. */
  readonly unknownReasoning?: (provider: TargetCall['provider']) => ModelReasoning | undefined;
  /** Returns the call options for the package. Reasoning is added later by `boundBody`. */
  readonly toOptions: (call: TargetCall) => LanguageModelV4CallOptions;
  /**
   * Returns final changes of the package's body: replaced fields, undefined to remove one. Unchanged fields need not be
   * parsed: they may be long.
   */
  readonly boundBody: (body: JsonText, call: TargetCall) => JsonObject;
  /** Returns new texts of values inside the package's body, besides those of `boundBody`. */
  readonly rewritten?: (body: JsonText, call: TargetCall) => readonly (readonly [value: number, text: string])[];
  /** The optional fields that the target supports, or supports with this model. */
  readonly says: ReadonlySet<OptionalName> | ((call: TargetCall) => ReadonlySet<OptionalName>);
  /** The schema subset for strict tools; absent if the provider accepts any schema, or has no strict tools. */
  readonly strictness?: Strictness;
  /** Returns paths of the request's fields that it got with other values. */
  readonly leavesOut?: (call: TargetCall) => readonly string[];
  /** The media type of a stream. */
  readonly streamType: string;
  /**
   * Converts a stream for its package: events are bounded, and none makes the package end it. `takeOut` replaces
   * arguments of calls in an event, if they are not texts. `endCame` is called while the reader waits for events
   * after the end.
   */
  readonly readStream: (
    bytes: AsyncIterable<Uint8Array>,
    takeOut: (text: string) => string,
    endCame: () => void,
  ) => AsyncGenerator<Uint8Array, void, undefined>;
  /** Absent if the arguments of calls are texts. */
  readonly argumentsShape?: ArgumentsShape;
  /** Steps that make a whole answer readable for its package, with a usage that it accepts: its text, or its value. */
  readonly readable: readonly ((text: string) => string | object)[];
  /**
   * Returns the usage of a whole answer, by which it is charged if no client gets it. If absent, it is estimated.
   */
  readonly usageIn?: (text: string) => UsageReport | undefined;
  /**
   * Returns whether an answer without content means that the provider refused the prompt; absent if a status says
   * so.
   */
  readonly isBlockedPrompt?: (metadata: SharedV4ProviderMetadata | undefined) => boolean;
  /**
   * Answer for its package if the package calls a second time by itself, for which nothing was reserved. Absent
   * if it never does.
   */
  readonly endOfAnswer?: unknown;
  /**
   * Set if an answer without content counts as failed, although its end reports success, unless the client gave
   * stops.
   */
  readonly failsEmpty?: true;
  readonly refusalOf?: RefusalOf;
  /** Returns stops that it does not support, at which the gateway ends the answer. Absent if it supports all. */
  readonly unsupportedStops?: (call: TargetCall) => readonly string[];
}
