// Defines a provider's usage report in one format for every interface. Billing uses only this format.
import { isJsonObject } from './json-body.ts';

/** Tokens that may have prices of their own, different from text. */
export const mediaKinds = ['audioInput', 'imageInput', 'audioOutput', 'imageOutput'] as const;
export type MediaKind = (typeof mediaKinds)[number];
export type MediaTokens = Readonly<Partial<Record<MediaKind, number>>>;

/** Reported counts. A count that is no whole number, or negative, is ignored. */
export interface TokenReport {
  /** All of the input, including cached and cache-written tokens; undefined when not reported. */
  readonly input: number | undefined;
  /** Part of the input. */
  readonly cached: number;
  /** Part of the input. */
  readonly cacheWrite: number;
  /** Part of the written tokens that is cached for an hour. */
  readonly cacheWrite1h: number;
  /** Undefined when not reported. */
  readonly output: number | undefined;
  /** Reasoning is a part of the output, or additional to it. The provider's entry decides if the report does not. */
  readonly reasoning: number;
  /** The reasoning that was additional to the output by the sums of the report; the output above includes it. */
  readonly addedReasoning?: number | undefined;
  /** Parts of the input, and of the output; absent when not reported separately. */
  readonly media?: MediaTokens | undefined;
}

/** Bound of a count. No model has a context a thousandth of this length. */
export const tokensMax = 1_000_000_000;

type InputParts = Pick<TokenReport, 'cached' | 'cacheWrite' | 'cacheWrite1h'>;

/** Limits the parts to the input that they belong to. */
export function partsWithin(input: number, { cached, cacheWrite, cacheWrite1h }: InputParts): InputParts {
  const partOf = (whole: number, part: number) => Math.min(part > tokensMax ? 0 : part, whole);
  const fromCache = partOf(input, cached);
  const written = partOf(input - fromCache, cacheWrite);
  return { cached: fromCache, cacheWrite: written, cacheWrite1h: partOf(written, cacheWrite1h) };
}

export interface ImageCount {
  readonly count: number;
  /** Size as the request, or the answer, states it; absent if the provider chooses. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
}

/** Units that may have prices of their own. */
export interface Units {
  readonly images?: ImageCount | undefined;
  readonly characters?: number | undefined;
  readonly seconds?: number | undefined;
  /** The most seconds that a provider can report; `seconds` if absent. */
  readonly secondsMax?: number | undefined;
  /** Number of requests that one call is billed as. */
  readonly requests?: number | undefined;
}

export interface UsageReport {
  readonly tokens: TokenReport;
  /** Seconds reported besides or in place of tokens. */
  readonly seconds?: number | undefined;
  readonly requests?: number | undefined;
  /** Usage fields as the provider wrote them and the client receives them. */
  readonly members: Record<string, unknown>;
}

/** Returns a count. Zero is valid, but a missing, negative or fractional number is not. */
export const toCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;

/** Reads OpenAI's details of the input, and of the output. */
export const mediaIn = (input: unknown, output: unknown): MediaTokens => ({
  audioInput: detailOf(input, 'audio_tokens'),
  imageInput: detailOf(input, 'image_tokens'),
  audioOutput: detailOf(output, 'audio_tokens'),
  imageOutput: detailOf(output, 'image_tokens'),
});

const detailOf = (details: unknown, name: string): number => (isJsonObject(details) ? toCount(details[name]) : 0) ?? 0;

/** True if a report contains a count at all. */
export const hasCounts = ({ tokens }: UsageReport): boolean =>
  tokens.input !== undefined || tokens.output !== undefined;
const isNothing = ({ tokens }: UsageReport): boolean => (tokens.input ?? 0) === 0 && (tokens.output ?? 0) === 0;

/** Picks the later report, unless it has no counts or only zeros where the earlier has more. */
export function laterReport(known: UsageReport | undefined, reported: UsageReport): UsageReport {
  if (known === undefined) return reported;
  return hasCounts(reported) && (!isNothing(reported) || isNothing(known)) ? reported : known;
}
