// What the provider limiter is asked for a candidate.
import type { EntryLimits, LimitedEntry } from '../../accounting/limits/index.ts';
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { ChatRequest } from '../../protocol/wire/index.ts';
import { promptTextBytes } from './context-length.ts';

/** English text is about four bytes a token; the real count corrects the counters afterwards. */
const bytesPerToken = 4;

/**
 * What a call may take of a provider's token limits: its prompt, and all the output it may ask for, up to what the
 * provider ever writes. One request for a billion tokens must not exhaust a day's limit while it runs.
 */
export function estimateTokens(request: ChatRequest, { entry }: Candidate): number {
  const outputTokens = Math.min(request.maxOutputTokens ?? entry.max_output_tokens, entry.max_output_tokens);
  return Math.ceil(promptTextBytes(request) / bytesPerToken) + outputTokens * request.choices;
}

export const entryOf = ({ provider, model }: Candidate): LimitedEntry => ({ provider: provider.id, model: model.id });

export const limitsOf = ({ entry }: Candidate): EntryLimits => ({
  rpm: entry.rate_limit_rpm,
  tpm: entry.rate_limit_tpm,
  tpd: entry.rate_limit_tpd,
});
