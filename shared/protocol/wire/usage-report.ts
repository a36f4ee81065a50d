// A provider's usage report in one shape for every interface: billing knows no other.
import { isJsonObject } from './json-body.ts';

/** Tokens that may have a price of their own, apart from text. */
export const mediaKinds = ['audioInput', 'imageInput', 'audioOutput', 'imageOutput'] as const;
export type MediaKind = (typeof mediaKinds)[number];
export type MediaTokens = Readonly<Partial<Record<MediaKind, number>>>;

/** Counts that are no whole number, or less than nothing, are none. */
export interface TokenReport {
  /** All of the input, including cached and cache-written tokens; undefined when not reported. */
  readonly input: number | undefined;
  /** Part of the input. */
  readonly cached: number;
  /** Part of the input. */
  readonly cacheWrite: number;
  /** Part of the written tokens that is kept for an hour. */
  readonly cacheWrite1h: number;
  /** Undefined when not reported. */
  readonly output: number | undefined;
  /** Part of the output, or beside it: the provider's entry says which, where the report does not. */
  readonly reasoning: number;
  /** As much of it as was beside the output by the sums of the report; the output above has it. */
  readonly addedReasoning?: number | undefined;
  /** Parts of the input, and of the output; absent when not reported apart. */
  readonly media?: MediaTokens | undefined;
}

/** No model has a context a thousandth of this. */
export const tokensMax = 1_000_000_000;

type InputParts = Pick<TokenReport, 'cached' | 'cacheWrite' | 'cacheWrite1h'>;

/** Limits parts to the input that they belong to. */
export function partsWithin(input: number, { cached, cacheWrite, cacheWrite1h }: InputParts): InputParts {
  const partOf = (whole: number, part: number) => Math.min(part > tokensMax ? 0 : part, whole);
  const fromCache = partOf(input, cached);
  const written = partOf(input - fromCache, cacheWrite);
  return { cached: fromCache, cacheWrite: written, cacheWrite1h: partOf(written, cacheWrite1h) };
}

export interface ImageCount {
  readonly count: number;
  /** In the words of the request, or of the answer; absent: the provider's to choose. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
}

/** Amounts that may have prices of their own. */
export interface Units {
  readonly images?: ImageCount | undefined;
  readonly characters?: number | undefined;
  readonly seconds?: number | undefined;
  /** The most seconds that a provider can report; those above if absent. */
  readonly secondsMax?: number | undefined;
  /** Requests that one call is billed as. */
  readonly requests?: number | undefined;
}

export interface UsageReport {
  readonly tokens: TokenReport;
  /** Reported beside or in place of tokens. */
  readonly seconds?: number | undefined;
  readonly requests?: number | undefined;
  /** Usage fields as the provider wrote them and a client receives them. */
  readonly members: Record<string, unknown>;
}

/** Zero is a count; a missing, negative or fractional number is none. */
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

/** Whether a report names a count at all. */
export const hasCounts = ({ tokens }: UsageReport): boolean =>
  tokens.input !== undefined || tokens.output !== undefined;
const isNothing = ({ tokens }: UsageReport): boolean => (tokens.input ?? 0) === 0 && (tokens.output ?? 0) === 0;

/** The report that counts of two: one without counts, or with zeros, replaces none that has more. */
export function laterReport(known: UsageReport | undefined, reported: UsageReport): UsageReport {
  if (known === undefined) return reported;
  return hasCounts(reported) && (!isNothing(reported) || isNothing(known)) ? reported : known;
}
