// Computes the most tokens that a call can have at a candidate. An estimate of its usage is based on the same size, and
// never higher.
import { type Candidate, modelNames } from '../../configuration/catalogue/index.ts';
import { responsesOutputMinTokens } from '../../foundation/constants/index.ts';
import type { CallSize, InputSize, OutputSize } from '../../protocol/wire/index.ts';

type Entry = Pick<Candidate['entry'], 'context_length'>;

type Target = Pick<Candidate, 'entry' | 'provider' | 'model'>;

export const inputTokensMax = (target: Target, size: InputSize): number => inputTokens(target, size, 1);

/** Bytes of a token: about four for English text in every common tokenizer. */
const bytesPerToken = 4;

/**
 * Returns the usual tokens of the input. Media count as they are reserved, because the bytes of media do not determine
 * the tokens.
 */
export const estimateInputTokens = (target: Target, size: InputSize): number =>
  inputTokens(target, size, bytesPerToken);

function inputTokens(target: Target, size: InputSize, bytesAToken: number): number {
  const { textBytes, mediaTokens } = size;
  const max = contextTokensMax(target.entry, size);
  if (mediaTokens === undefined || (size.hasMediaElsewhere && takesAnyMedia(target))) return max;
  const toolTokens = size.claudeToolTokens > 0 && isClaude(target) ? size.claudeToolTokens : 0;
  return Math.min(Math.ceil(textBytes / bytesAToken) + mediaTokens + toolTokens, max);
}

/**
 * True for a Claude model on any host, by the provider's kind or by the model's names at the host and in the catalogue.
 */
const isClaude = ({ entry, model, provider }: Target): boolean =>
  provider.kind === 'anthropic' || modelNames({ entry, model }).some((name) => /claude/i.test(name));

/** True if it fetches a URL's content, and accepts a video in place of an image. */
export const takesAnyMedia = ({ provider }: Pick<Target, 'provider'>): boolean =>
  provider.apis.includes('generate-content');

/** Returns the bound of the input that a provider can have read. */
export const contextTokensMax = (entry: Entry, { contexts }: Pick<InputSize, 'contexts'>): number =>
  entry.context_length * contexts;

/** Returns the bound of output tokens of one answer. */
export const outputBoundOf = (
  entry: BoundedEntry,
  { maxOutputTokens = 0, isOutputOpen, namesNoBound = false }: OutputBounds,
): number => {
  if (!isOutputOpen) return maxOutputTokens;
  const openTokens = (namesNoBound ? entry.default_output_tokens : undefined) ?? entry.max_output_tokens;
  return Math.max(maxOutputTokens, openTokens);
};

type BoundedEntry = Pick<Candidate['entry'], 'max_output_tokens' | 'default_output_tokens'>;
type OutputBounds = Pick<OutputSize, 'maxOutputTokens' | 'isOutputOpen' | 'namesNoBound'>;

export function outputTokensMax({ entry, provider }: Pick<Candidate, 'entry' | 'provider'>, size: OutputSize): number {
  const bound = outputBoundOf(entry, size);
  const outputBound = size.keepsBound === true ? bound : raised(bound, provider);
  // Additive reasoning is counted on top of the requested output, within the provider's own limit. A call without
  // output has none.
  const reasoning = outputBound > 0 && provider.reasoning_tokens === 'additive' ? entry.max_output_tokens : 0;
  const beside = (size.answersBeside ?? 0) * entry.max_output_tokens;
  return (outputBound + reasoning + size.predictionBytes) * size.choices + beside;
}

/** Raises a bound to the least that the provider accepts. A call without output stays without. */
const raised = (bound: number, { apis }: Candidate['provider']): number =>
  bound > 0 && apis.includes('responses') ? Math.max(bound, responsesOutputMinTokens) : bound;

/**
 * Returns the size of a workflow's step before it runs. Answers of other steps become part of the step's messages, so
 * only the context bounds the input.
 */
export const withUnknownInput = (size: CallSize): CallSize => ({ ...size, mediaTokens: undefined });
