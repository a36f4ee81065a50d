// What a format of a provider gives to the hub.
import type { LanguageModelV4, LanguageModelV4CallOptions, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { ModelReasoning, ProviderDocument, Thinking } from '../../../../configuration/catalogue/index.ts';
import type { JsonObject, JsonText, UsageReport } from '../../../../protocol/wire/index.ts';
import type { HubCall, OptionalName } from './hub-call.ts';
import type { Strictness } from './strict-tools.ts';

export interface ModelOptions {
  /** As the provider names it. */
  readonly model: string;
  /** Where the package believes the provider to be, and with which key. Both go nowhere: `fetch` takes the path alone. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  /** For tool calls that came without one. */
  readonly generateId: () => string;
  /** Awaited between two steps: what the package makes of the call, and what it writes of that. */
  readonly nextStep: () => Promise<void>;
}

/** A call of one model. */
export interface TargetCall {
  /** Its prompt holds of what was signed only what this target can read, in the words of its package. */
  readonly call: HubCall;
  /** As the provider names it. */
  readonly model: string;
  /** As its provider and the catalogue have it: a profile of a host does not say which model it is. */
  readonly names: readonly string[];
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

/** Who signed. */
export interface SignedBy {
  /** As the provider names it. */
  readonly model: string;
  readonly provider: Pick<ProviderDocument, 'id'>;
}

/** What a provider signed or encrypted of its thinking. */
export interface Signed {
  /** Of the part that it comes with. */
  readonly signature?: string;
  /** Thinking that is encrypted as a whole. */
  readonly encrypted?: string;
  /** What its provider calls a text: on the way in alone. */
  readonly phase?: string;
}

export type SignedPart = 'text' | 'reasoning' | 'tool-call' | 'file';

/** Where a format keeps the arguments of calls. */
export interface ArgumentsForm {
  /** Text without which an answer, or an event, has none. */
  readonly mark: string;
  /** Names of members from the outside in, `*` for each item of a list. */
  readonly paths: readonly (readonly string[])[];
}

/** What stands for the end of a stream that its format said by itself, without a word for why. */
export const formatsOwnEnd = 'gw_own_end';

export interface HubTarget {
  readonly openModel: (options: ModelOptions) => LanguageModelV4;
  /** How models of a provider think that the table does not know. Undefined: they are told nothing. */
  readonly unknownReasoning?: (provider: TargetCall['provider']) => ModelReasoning | undefined;
  /** What of a call its package is given, which is nothing of thinking: `boundBody` writes that, by the one table of models. */
  readonly toOptions: (call: TargetCall) => LanguageModelV4CallOptions;
  /**
   * The last word about the body that the package made: members that are written anew, undefined to leave one out. Members that
   * stay as they are need not be parsed: they may be long.
   */
  readonly boundBody: (body: JsonText, call: TargetCall) => JsonObject;
  /** The optional members that it has words for, or has at this model. */
  readonly says: ReadonlySet<OptionalName> | ((call: TargetCall) => ReadonlySet<OptionalName>);
  /** What it takes of a schema where a tool is strict. Left out: any, or it has no word for it. */
  readonly strictness?: Strictness;
  /** Members of the request, as paths, that it was told otherwise than they say. */
  readonly leavesOut?: (call: TargetCall) => readonly string[];
  /** The media type of a stream. */
  readonly streamType: string;
  /**
   * A stream as its package can read it: events bounded, nothing in it that the package would end it for. `takeOut`: of an event,
   * the arguments of calls, where they are no texts. `endCame`: told where the reader waits for what may come behind the end.
   */
  readonly readStream: (
    bytes: AsyncIterable<Uint8Array>,
    takeOut: (text: string) => string,
    endCame: () => void,
  ) => AsyncGenerator<Uint8Array, void, undefined>;
  /** Left out: the arguments of calls are texts. */
  readonly argumentsForm?: ArgumentsForm;
  /** What makes of a whole answer one that its package can read, with a usage that it takes: step by step. `nextStep`: within a step. */
  readonly readable: readonly ((text: string, nextStep: () => Promise<void>) => string | Promise<string>)[];
  /** What a whole answer says that it has used: the ground of the charge where no client gets it. Left out: it is estimated. */
  readonly usageIn?: (text: string) => UsageReport | undefined;
  /** Of an answer without content: the provider refused the prompt. Left out: it says so with a status. */
  readonly isBlockedPrompt?: (metadata: SharedV4ProviderMetadata | undefined) => boolean;
  /** What its package gets where it asks a second time by itself: nothing was held for that. Left out: it never does. */
  readonly endOfAnswer?: unknown;
  /** An answer without any part did not end well, although its end says so. */
  readonly failsEmpty?: true;
  /** Why the model refused, where the provider explains it. */
  readonly refusalOf?: (metadata: SharedV4ProviderMetadata | undefined) => string | undefined;
  /** Stops that it cannot be told: the gateway ends the answer there. Left out: it can be told all. */
  readonly untoldStops?: (call: TargetCall) => readonly string[];
  /** Who can read what a model of it signs. */
  readonly originOf: (by: SignedBy) => string;
  /** What its package says was signed of a part. */
  readonly readSigned: (metadata: SharedV4ProviderMetadata | undefined) => Signed;
  /** The same in the words of its package, for a part that comes back. Undefined: such a part cannot carry it. */
  readonly signedOptions: (
    part: SignedPart,
    signed: Signed,
  ) => Readonly<Record<string, Record<string, string>>> | undefined;
}
