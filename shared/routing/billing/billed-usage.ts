// Makes a provider's usage report safe to bill. Negative and non-numeric counts are estimated from the gateway's own
// observation, and a count beyond the call's bound is billed at that bound.
import {
  type MediaKind,
  type MediaTokens,
  mediaKinds,
  partsWithin,
  type TokenReport,
  tokensMax,
  type Units,
} from '../../protocol/wire/index.ts';
import { inputMedia } from './call-prices.ts';

export interface BilledUsage {
  readonly promptTokens: number;
  /** Part of promptTokens. */
  readonly cachedTokens: number;
  /** Part of promptTokens, not of cachedTokens. */
  readonly cacheWriteTokens: number;
  /** Part of cacheWriteTokens. */
  readonly cacheWrite1hTokens: number;
  /** Tokens of all generated output, reasoning included. */
  readonly completionTokens: number;
  /** Tokens other than text: of the input that is neither read from the cache nor written to it, and of the output. */
  readonly media: MediaTokens;
  /** Counted outputs other than tokens, such as images or seconds, which may have a price per unit. */
  readonly units?: Units | undefined;
  /** Whether the provider reported the tokens of input and of output, and the requests. */
  readonly reportedCounts?:
    | { readonly input: boolean; readonly output: boolean; readonly requests: boolean }
    | undefined;
  /** True if a count is estimated, because the provider did not report it. */
  readonly estimated: boolean;
}

export interface ObservedOutput {
  readonly outputBytes: number;
  /** Bytes that arrived after the usage report, and that the report therefore does not include. */
  readonly bytesAfterUsage?: number;
  /** Counted outputs that may have a price per unit. Absent if every requested unit was delivered. */
  readonly units?: Units | undefined;
  /**
   * Estimate of the tokens that the model wrote before the first token arrived, for a call whose client left. No usage
   * report includes these tokens.
   */
  readonly unseenTokens?: number;
}

/** The gateway's own observations, on which every estimate is based. */
interface Observed extends ObservedOutput {
  readonly promptTokens: number;
  /** Parts of promptTokens that are known to be other than text. */
  readonly promptMedia?: MediaTokens | undefined;
  /** Tokens of output other than text, if the provider reports none. */
  readonly unreportedTokens?: number | undefined;
  /** Kind of `unreportedTokens`, if their price may differ from the price of text. */
  readonly unreportedKind?: MediaKind | undefined;
}

/** The most that the call can have used. */
interface UsageBounds {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Kinds that the call's input can have. Reported tokens of other kinds are billed as text. */
  readonly inputMedia: readonly MediaKind[];
}

/** Bytes of a token. English text has about four in every common tokenizer. */
const bytesPerToken = 4;
const widestBounds: UsageBounds = { promptTokens: tokensMax, completionTokens: tokensMax, inputMedia };

export function toBilledUsage(
  report: TokenReport | undefined,
  reasoningCounting: 'included' | 'additive',
  observed: Observed,
  bounds: UsageBounds = widestBounds,
): BilledUsage {
  const { input: prompt, output: completion, reasoning, addedReasoning, media = {}, ...parts } = report ?? emptyReport;
  const { unseenTokens = 0 } = observed;
  // Without a count of the output, all of it is estimated; with a count, only what arrived after the report.
  const unreportedTokens = completion === undefined ? (observed.unreportedTokens ?? 0) : 0;
  const unreportedBytes = completion === undefined ? observed.outputBytes : (observed.bytesAfterUsage ?? 0);
  const { unreportedKind: kind } = observed;
  const unreportedMedia = kind !== undefined && unreportedTokens > 0 ? { [kind]: unreportedTokens } : {};
  const used = {
    prompt: prompt ?? observed.promptTokens,
    completion:
      (completion ?? 0) +
      unseenTokens +
      unreportedTokens +
      Math.ceil(unreportedBytes / bytesPerToken) +
      (reasoningCounting === 'additive' && completion !== undefined && addedReasoning === undefined ? reasoning : 0),
  };
  const promptTokens = Math.min(used.prompt, bounds.promptTokens);
  const completionTokens = Math.min(used.completion, bounds.completionTokens);
  const isBounded = promptTokens < used.prompt || completionTokens < used.completion;
  const { cached, cacheWrite, cacheWrite1h } = partsWithin(promptTokens, parts);
  return {
    promptTokens,
    cachedTokens: cached,
    cacheWriteTokens: cacheWrite,
    cacheWrite1hTokens: cacheWrite1h,
    completionTokens,
    media: {
      ...media,
      // Tokens of kinds that the input cannot have are billed as text.
      ...Object.fromEntries(inputMedia.filter((kind) => !bounds.inputMedia.includes(kind)).map((kind) => [kind, 0])),
      ...(prompt === undefined ? observed.promptMedia : {}),
      ...unreportedMedia,
    },
    estimated: prompt === undefined || completion === undefined || unseenTokens > 0 || unreportedBytes > 0 || isBounded,
  };
}

const emptyReport: TokenReport = {
  input: undefined,
  cached: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: undefined,
  reasoning: 0,
};

export const sumBilledUsage = (usages: readonly BilledUsage[]): BilledUsage => ({
  promptTokens: usages.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
  cachedTokens: usages.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0),
  cacheWriteTokens: usages.reduce((sum, { cacheWriteTokens }) => sum + cacheWriteTokens, 0),
  cacheWrite1hTokens: usages.reduce((sum, { cacheWrite1hTokens }) => sum + cacheWrite1hTokens, 0),
  completionTokens: usages.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
  media: Object.fromEntries(mediaKinds.map((kind) => [kind, sumOf(usages, kind)])),
  estimated: usages.some(({ estimated }) => estimated),
});

const sumOf = (usages: readonly BilledUsage[], kind: MediaKind): number =>
  usages.reduce((sum, { media }) => sum + (media[kind] ?? 0), 0);

// Estimates output that a model has written before the gateway received any output. A provider whose call is abandoned
// reports no count, and charges for its work.

/** A model without thinking usually begins to answer within this time. */
const usualFirstOutputMs = 5_000;
/** Lowest usual speed of hidden thinking. Models write 50 to 150 tokens per second. */
const tokensPerSecond = 50;
const msPerSecond = 1_000;

/**
 * Returns a low estimate. `silentMs` is the time from the start of the call to its first output, or to the call's end
 * if it had no output.
 */
export const unseenOutputTokens = (silentMs: number): number =>
  Math.ceil((Math.max(0, silentMs - usualFirstOutputMs) * tokensPerSecond) / msPerSecond);
