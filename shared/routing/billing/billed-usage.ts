// Makes a provider's usage report safe to bill: negative and non-numeric counts are estimated from the gateway's own
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
  /** Part of promptTokens, and none of cachedTokens. */
  readonly cacheWriteTokens: number;
  /** Part of cacheWriteTokens. */
  readonly cacheWrite1hTokens: number;
  /** Everything generated, reasoning included. */
  readonly completionTokens: number;
  /** Parts of the input that is neither cached nor written, and of the output. */
  readonly media: MediaTokens;
  /** Amounts that may have prices of their own. */
  readonly units?: Units | undefined;
  /** Whether tokens of input and of output, and requests, are the provider's word. */
  readonly reported?: { readonly input: boolean; readonly output: boolean; readonly requests: boolean } | undefined;
  /** True where a count rests on an estimate instead of the provider's word. */
  readonly estimated: boolean;
}

export interface ObservedOutput {
  readonly outputBytes: number;
  /** Bytes after the report, which therefore cannot include them. */
  readonly bytesAfterUsage?: number;
  /** Things that came and may have prices of their own; absent: all that was asked for. */
  readonly units?: Units | undefined;
  /** Written before anything was seen, by a provider whose client left. In no report. */
  readonly unseenTokens?: number;
}

/** The gateway's own observation, on which every estimate is based. */
interface Observed extends ObservedOutput {
  readonly promptTokens: number;
  /** Parts of promptTokens that are known not to be text. */
  readonly promptMedia?: MediaTokens | undefined;
  /** Of output that is no text, where the provider reports none. */
  readonly unreportedTokens?: number | undefined;
  /** Their kind, where their price may be another than that of text. */
  readonly unreportedKind?: MediaKind | undefined;
}

/** The most that the call can have used. */
interface UsageBounds {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Kinds that its input may have: without a report of them, and of other kinds, all of it is text. */
  readonly inputMedia: readonly MediaKind[];
}

/** English text is about four bytes a token in every common tokenizer. */
const bytesPerToken = 4;
const widestBounds: UsageBounds = { promptTokens: tokensMax, completionTokens: tokensMax, inputMedia };

export function readUsage(
  reported: TokenReport | undefined,
  reasoningTokens: 'included' | 'additive',
  observed: Observed,
  bounds: UsageBounds = widestBounds,
): BilledUsage {
  const { input: prompt, output: completion, reasoning, addedReasoning, media = {}, ...parts } = reported ?? nothing;
  const { unseenTokens = 0 } = observed;
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
      (reasoningTokens === 'additive' && completion !== undefined && addedReasoning === undefined ? reasoning : 0),
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
      ...Object.fromEntries(inputMedia.filter((kind) => !bounds.inputMedia.includes(kind)).map((kind) => [kind, 0])),
      ...(prompt === undefined ? observed.promptMedia : {}),
      ...unreportedMedia,
    },
    estimated: prompt === undefined || completion === undefined || unseenTokens > 0 || unreportedBytes > 0 || isBounded,
  };
}

const nothing: TokenReport = {
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

// Output that a model has written before any of it was seen. A provider whose call is abandoned reports no count, and
// charges for its work.

/** A model that does not think begins to answer within it, as a rule. */
const answersWithinMs = 5_000;
/** Models that think unseen write 50 to 150 of them. */
const tokensPerSecond = 50;
const msPerSecond = 1_000;

/** An estimate, on the low side. `silentMs`: from the call of the provider to the first output, or to its end. */
export const unseenOutputTokens = (silentMs: number): number =>
  Math.ceil((Math.max(0, silentMs - answersWithinMs) * tokensPerSecond) / msPerSecond);
