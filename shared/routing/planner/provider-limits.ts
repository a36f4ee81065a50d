// What the provider limiter is asked for a candidate.
import type { EntryLimits, LimitedEntry } from '../../accounting/limits/index.ts';
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { CallSize } from '../../protocol/wire/index.ts';
import { askedOutputTokens, estimateInputTokens } from '../billing/index.ts';

/**
 * What a call may take of a provider's token limits: its prompt, and all the output it may ask for, up to what the
 * provider ever writes. One request for a billion tokens must not exhaust a day's limit while it runs. The real count
 * corrects the counters afterwards.
 */
export function estimateTokens(size: CallSize, candidate: Candidate): number {
  const { entry } = candidate;
  const outputTokens = Math.min(askedOutputTokens(entry, size), entry.max_output_tokens);
  return estimateInputTokens(candidate, size) + outputTokens * size.choices;
}

export const entryOf = ({ provider, model }: Candidate): LimitedEntry => ({ provider: provider.id, model: model.id });

export const limitsOf = ({ entry }: Candidate): EntryLimits => ({
  rpm: entry.rate_limit_rpm,
  tpm: entry.rate_limit_tpm,
  tpd: entry.rate_limit_tpd,
});
