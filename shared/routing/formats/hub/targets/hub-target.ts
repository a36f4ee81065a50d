// Defines what a provider's format implements, so that a request of any client interface can be translated to it. The
// hub is the form between both: the AI SDK's call and answer.
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
  /** The model's name at the provider, which is sent. */
  readonly model: string;
  /** A name that the AI SDK package recognizes, because the package decides by the model's name what it sends. */
  readonly packageModel: string;
  /**
   * The model's names at the provider, in the model list and in the catalogue. All these names count, because the name
   * of an inference profile need not contain the model's name.
   */
  readonly names: readonly string[];
  /** Base URL and key for the package. Neither is sent, because `fetch` uses only the path. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  /** Makes ids for tool calls that have none. */
  readonly generateId: () => string;
}

/** One call to one model, with everything that a target needs. */
export interface TargetCall {
  /** The client's call. Signatures of thinking that this target can read are in the package's provider options. */
  readonly call: HubCall;
  /** The model's name at the provider. */
  readonly model: string;
  readonly packageModel: ModelOptions['packageModel'];
  readonly names: ModelOptions['names'];
  /** Names that are compared with the names of OpenAI's models. */
  readonly openAiNames: readonly string[];
  readonly rules: TargetRules;
  readonly provider: Pick<ProviderDocument, 'id' | 'kind' | 'reasoning_style' | 'stream_usage'>;
  /** Maximum number of output tokens, thinking included. */
  readonly outputMaxTokens: number;
  readonly thinking: Thinking | undefined;
  readonly reasoning: ModelReasoning;
  /** True if the model can be forced to call a tool. */
  readonly canForceTools: boolean;
  /** True if the operator has prompts cached, and the client's request has no cache marks of its own. */
  readonly addsCacheMarks: boolean;
}

/** Specifies where a format has the arguments of tool calls. */
export interface ToolArgumentPaths {
  /** Text that occurs in every answer, and in every event, with arguments of a tool call. */
  readonly hint: string;
  /** Names of fields from the outside in, `*` for each item of a list. */
  readonly paths: readonly (readonly string[])[];
}

export interface EmbeddingOptions {
  readonly dimensions: number | undefined;
  readonly inputType: string | undefined;
  /** The type of task, in Google's values of `taskType`. */
  readonly taskType: string | undefined;
  readonly title: string | undefined;
}

type EmbeddingField = 'input_type' | 'taskType' | 'title';

/** Calls the embedding models of a package. */
export interface EmbeddingTarget {
  /** Opens a model. `names` are the model's names at the provider and in the catalogue. */
  readonly openModel: (
    settings: Pick<ModelOptions, 'model' | 'baseURL' | 'apiKey' | 'fetch'>,
    names: readonly string[],
  ) => EmbeddingModelV4;
  /** Returns fields that the model's format can express, besides the dimensions. */
  readonly supportedFields: (names: readonly string[]) => readonly EmbeddingField[];
  readonly toOptions: (
    embeddingOptions: EmbeddingOptions,
    names: readonly string[],
  ) => Pick<EmbeddingModelV4CallOptions, 'dimensions' | 'providerOptions'>;
  /** Adds fields that the package requires to the text of an answer. */
  readonly completeAnswer?: (text: string) => string;
  /** Returns the input tokens that the answer reports. Absent if the package reads them itself. */
  readonly readInputTokens?: (result: EmbeddingModelV4Result, answer: CandidateAnswer | undefined) => unknown;
  /**
   * Set if the provider cuts vectors to `dimensions` without normalizing them to length 1, which the gateway then does.
   */
  readonly needsNormalization?: true;
}

export type RerankedDocuments = RerankingModelV4CallOptions['documents'];
export type RankedDocument = RerankingModelV4Result['ranking'][number];

/** Calls the reranking models of a package. */
export interface RerankTarget {
  readonly openModel: (
    settings: Pick<ModelOptions, 'model' | 'baseURL' | 'apiKey' | 'fetch'>,
    provider: Pick<ProviderDocument, 'region'>,
  ) => RerankingModelV4;
  /** Returns the host of the reranking service, for the host of the provider. */
  readonly hostname: (providerHostname: string) => string;
  /** Returns options that request the page of a ranking with the token `next`. */
  readonly pageOptions: (next: string | undefined) => Pick<RerankingModelV4CallOptions, 'providerOptions'>;
  /** Returns the token of the next page; undefined if the answer has the last one. */
  readonly nextPage: (answer: unknown) => string | undefined;
}

/** Options with the client's values; undefined if the provider chooses. */
interface ImageOptions {
  readonly size: string | undefined;
  readonly quality: string | undefined;
}

/** Calls the image models of a package. */
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
  /** Absent if the package has no image models. */
  readonly imageModels?: ImageTarget;
  /** Absent if the package has no reranking models. */
  readonly rerankingModels?: RerankTarget;
  /** Absent if the package has no embedding models, or providers of the format offer them in OpenAI's interface. */
  readonly embeddingModels?: EmbeddingTarget;

  // The following members make the request. They are used before anything is sent.

  readonly openModel: (options: ModelOptions) => LanguageModelV4;
  /**
   * Returns the reasoning style of models that are in no row of the table of reasoning models; undefined if no effort
   * is sent to them.
   */
  readonly unknownReasoning?: (provider: TargetCall['provider']) => ModelReasoning | undefined;
  /** Returns the call options for the package. Reasoning is added later by `finalChanges`. */
  readonly toOptions: (call: TargetCall) => LanguageModelV4CallOptions;
  /**
   * Returns the last changes of the body that the package has written: new values by the names of fields, undefined to
   * remove a field. Only the fields that change need to be parsed, because the others may be long.
   */
  readonly finalChanges: (body: JsonText, call: TargetCall) => JsonObject;
  /**
   * Returns new texts of values deep inside the package's body, in addition to `finalChanges`. `value` is the position
   * of a value in the scanned text.
   */
  readonly rewriteValues?: (body: JsonText, call: TargetCall) => readonly (readonly [value: number, text: string])[];
  /** The optional fields that the target supports, or supports with this model. */
  readonly supportedOptions: ReadonlySet<OptionalName> | ((call: TargetCall) => ReadonlySet<OptionalName>);
  /** The schema subset for strict tools; absent if the provider accepts any schema, or has no strict tools. */
  readonly strictness?: Strictness;
  /**
   * Returns the stop sequences that the target does not support, so that the gateway ends the answer at them. Absent if
   * the target supports all.
   */
  readonly unsupportedStops?: (call: TargetCall) => readonly string[];
  /** Returns the paths of the request's fields whose values the target changes. */
  readonly changedPaths?: (call: TargetCall) => readonly string[];

  // The following members read the answer, which is a stream or a whole answer.

  /** The media type of a stream. */
  readonly streamType: string;
  /**
   * Converts a stream for its package: limits the size of events, and changes events at which the package would end the
   * stream early. `replaceArguments` replaces arguments of tool calls that are objects, not text, by placeholders.
   * `onEnd` is called when the answer is complete and only its usage or an end marker may follow.
   */
  readonly readStream: (
    bytes: AsyncIterable<Uint8Array>,
    replaceArguments: (text: string) => string,
    onEnd: () => void,
  ) => AsyncGenerator<Uint8Array, void, undefined>;
  /** Absent if the format has the arguments of tool calls as text. */
  readonly toolArguments?: ToolArgumentPaths;
  /**
   * Steps that change a whole answer, so that the package accepts it and its usage. Each step returns the answer's text
   * or its value.
   */
  readonly answerSteps: readonly ((text: string) => string | object)[];
  /**
   * Returns the usage of a whole answer that no client gets and that is charged nevertheless. If the function is
   * absent, the usage is estimated.
   */
  readonly usageIn?: (text: string) => UsageReport | undefined;

  // The following members judge the outcome. They are used after the package has read the answer.

  /**
   * Returns whether an answer without content means that the provider refused the prompt. Absent if the provider
   * reports that with an HTTP status.
   */
  readonly isBlockedPrompt?: (metadata: SharedV4ProviderMetadata | undefined) => boolean;
  /**
   * The answer that the package gets when it makes a second request of its own accord. The request is not sent, because
   * nothing was reserved for it. Absent if the package makes no second request.
   */
  readonly secondCallAnswer?: unknown;
  /**
   * Set if an answer without content counts as failed, although its finish reason reports success. Stop sequences of
   * the client make it valid.
   */
  readonly isEmptyAnswerFailure?: true;
  readonly refusalOf?: RefusalOf;
}
